package summary

import "strings"

// mostPlaces is the maximum number of lines to search for words beside a fact.
const mostPlaces = 12

// grounds reports whether a line says what its fact number k, f, is. A line of the messages does if it has plain words
// enough; a line of a segment must have words beside the fact that stood beside it in the messages: whoever knows
// the messages by these lines alone would not recognise it otherwise.
func (c *chooser) grounds(n int32, k int, f *seen) bool {
	if said, ok := c.book.written[n]; ok {
		return said[k]
	}
	lex := c.book.lex
	return lex.beside[int(lex.lines[n].span)+k] >= min(enoughPlain, f.plain)
}

// A grounding says of lines of segments, by their facts, whether they say of them what the messages say.
type grounding map[int32][]bool

// find finds out which facts the lines say with words of the messages.
func (g grounding) find(lex *lexicon) {
	beside := map[int32][]map[string]bool{} // of each fact of a segment, the words on lines of the messages
	for n := range g {
		for _, id := range lex.of(n) {
			beside[id] = nil
		}
	}
	for n := range int32(len(lex.lines)) {
		if g[n] != nil {
			continue
		}
		var words map[string]bool
		for _, id := range lex.of(n) {
			if at, ok := beside[id]; ok && len(at) < mostPlaces {
				if words == nil {
					words = plainWords(lex.texts[n])
				}
				beside[id] = append(at, words)
			}
		}
	}
	for n, said := range g {
		for k, id := range lex.of(n) {
			said[k] = said[k] || groundedIn(lex.texts[n], lex.facts[id].text, beside[id])
		}
	}
}

// groundedIn reports whether a passage has a fact on a line with the words of one of its places: enough of them, or as
// many as there are.
func groundedIn(passage, text string, places []map[string]bool) bool {
	for line := range strings.Lines(passage) {
		if !strings.Contains(line, text) {
			continue
		}
		words := plainWords(line)
		for _, place := range places {
			n := 0
			for w := range place {
				if words[w] {
					n++
				}
			}
			if n >= min(enoughPlain, len(place)) {
				return true
			}
		}
	}
	return false
}

// plainWords returns the words of a line that have small letters only and are no part of a name.
func plainWords(s string) map[string]bool {
	out := map[string]bool{}
	for i := 0; i < len(s); {
		if !letter(s[i]) {
			i++
			continue
		}
		j, low := wordEnd(s, i)
		if low && j-i >= 4 && standsAlone(s, i, j) {
			out[s[i:j]] = true
		}
		i = j
	}
	return out
}
