package receipt

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A search looks up the sentences of one answer.
type search struct {
	*places
	words      map[string]bool // that are asked for
	sent, left *corpus
}

// wordsIn returns all words that are asked for.
func wordsIn(asked []terms) map[string]bool {
	out := map[string]bool{}
	for i := range asked {
		for _, w := range asked[i].words {
			out[w] = true
		}
	}
	return out
}

const (
	mostSources = 4    // of a sentence
	exact       = 3.0  // what a string that stands letter by letter weighs more than a word
	mostPlaces  = 50   // where one string stands, that are looked at
	enough      = 0.5  // of a sentence's words, by their weight, that must stand together so that it counts as said
	some        = 0.3  // that must, so that it counts as said in part
	much        = 0.45 // that must in something that was not sent, so that it is told of
)

// A hit is a passage that bears on a sentence.
type hit struct {
	passage int
	score   float64
	share   float64  // of what is looked up of the sentence and not missing as a string, by its weight
	count   int      // words of the sentence
	strings []string // of the sentence
}

// answer finds what a sentence rests on.
func (s *search) answer(out *Sentence, t *terms) {
	out.Sources = []Source{}
	if len(t.strings)+len(t.words) == 0 {
		out.Verdict = verdictNothing
		return
	}
	hits := s.sent.hits(t)
	chosen, missing := choose(hits, t.strings)
	share, words := together(chosen)
	said := share >= enough && (words > 1 || len(t.words) == 1)
	switch found := len(t.strings) - len(missing); {
	case len(missing) == 0 && (found > 0 || said):
		out.Verdict = verdictSent
	case found > 0 || said || len(t.strings) == 0 && share >= some && words > 1:
		out.Verdict = verdictPartly
	default:
		out.Verdict = verdictUnsent
	}
	if out.Missing = missing; out.Verdict == verdictUnsent {
		chosen = nil // a few words are no source
	}
	for _, h := range chosen {
		out.Sources = append(out.Sources, s.source(s.sent, h, t))
	}
	if out.Verdict != verdictSent {
		out.Unsent = s.unsent(t, missing, hits)
	}
}

// unsent returns what stood in the conversation about a sentence and was not sent: where the strings stood that are missing in what was, and
// what says no less of the sentence than that.
func (s *search) unsent(t *terms, missing []string, sent []*hit) (out []Source) {
	hits, most := s.left.hits(t), 0
	for _, h := range sent {
		most = max(most, h.has())
	}
	chosen, _ := choose(hits, missing)
	if len(chosen) == 0 && len(hits) > 0 {
		chosen = hits[:1]
	}
	for _, h := range chosen {
		stands := slices.ContainsFunc(h.strings, func(str string) bool { return slices.Contains(missing, str) })
		tells := h.has() > 1 && h.has() >= most && (len(h.strings) > 0 || h.share >= much)
		if stands || tells && (len(missing) > 0 || h.has() > most) {
			out = append(out, s.source(s.left, h, t))
		}
	}
	return out
}

// has returns how much of a sentence a passage has: words and strings.
func (h *hit) has() int { return h.count + len(h.strings) }

// together returns the greatest share of a sentence's words that one of some hits has, and how many words.
func together(hits []*hit) (share float64, words int) {
	for _, h := range hits {
		if h.share > share {
			share, words = h.share, h.count
		}
	}
	return share, words
}

// hits returns the passages that have strings or words of a sentence, best first.
func (c *corpus) hits(t *terms) []*hit {
	l := tally{corpus: c}
	n, places := len(c.passages), make([][]int, len(t.strings))
	for i, str := range t.strings {
		if places[i] = c.standing(str); len(places[i]) > 0 { // of one that is missing is told besides
			l.all += exact + rarity(n, len(places[i]))
		}
	}
	for _, w := range t.words {
		l.all += rarity(n, len(c.has[w]))
	}
	for _, w := range t.words {
		weight := rarity(n, len(c.has[w]))
		for _, p := range c.has[w] {
			h := l.add(p, weight)
			h.count++
			h.score += weight * 2.2 / (1 + 1.2*(0.6+0.4*float64(c.passages[p].words)/c.average))
		}
	}
	for i, str := range t.strings {
		weight := exact + rarity(n, len(places[i]))
		for _, p := range places[i] {
			h := l.add(p, weight)
			h.score += weight
			h.strings = append(h.strings, str)
		}
	}
	return l.sorted()
}

// A tally is hits in the making.
type tally struct {
	*corpus
	found []hit
	all   float64 // weight of all that is looked up
}

// add adds a weight to the hit of a passage.
func (l *tally) add(passage int, weight float64) *hit {
	if l.slots == nil {
		l.slots = make([]int, len(l.passages))
	}
	if l.slots[passage] == 0 {
		l.found = append(l.found, hit{passage: passage})
		l.slots[passage] = len(l.found)
	}
	h := &l.found[l.slots[passage]-1]
	h.share += weight / l.all
	return h
}

// sorted returns the hits that may be chosen, best first, and leaves the slots empty.
func (l *tally) sorted() (out []*hit) {
	for i := range l.found {
		h := &l.found[i]
		l.slots[h.passage] = 0
		if len(h.strings) > 0 || h.share >= some { // nothing else is ever chosen
			h.score *= l.trust(h)
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.passage, b.passage)) })
	return out
}

// trust returns what a passage counts: what the model has said itself less than what it was told, a question less than what may answer it,
// and a text of Decant's less than the original, if both were sent.
func (c *corpus) trust(h *hit) float64 {
	p := &c.passages[h.passage]
	t := &c.texts[p.of]
	switch line := strings.TrimSpace(t.text[p.start:p.end]); {
	case t.model, strings.HasSuffix(line, "?"), strings.HasSuffix(line, "？"):
		return 0.7
	case t.form == formVerbatim || t.form == formLeft:
		return 1
	}
	return 0.9
}

// standing returns the passages in which a string stands letter by letter, as far as these are few enough to be looked at.
func (c *corpus) standing(s string) (out []int) {
	for _, spelled := range spellings(s) {
		for i, t := range c.small {
			for at := find(t, spelled, 0); at >= 0 && len(out) < mostPlaces; at = find(t, spelled, at+1) {
				if p := c.at(i, at); !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// choose returns the hits that are shown: for each string the best that has it, and the best by words. missing are the strings
// that none has.
func choose(hits []*hit, strs []string) (out []*hit, missing []string) {
	add := func(h *hit) {
		if len(out) < mostSources && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	for _, str := range strs {
		has := func(h *hit) bool { return slices.Contains(h.strings, str) }
		if slices.ContainsFunc(out, has) {
			continue
		}
		i := slices.IndexFunc(hits, has)
		if i < 0 {
			missing = append(missing, str)
			continue
		}
		add(hits[i])
	}
	best := math.Inf(-1)
	for _, h := range out {
		best = max(best, h.share)
	}
	if i := slices.IndexFunc(hits, func(h *hit) bool { return h.share >= some }); i >= 0 && hits[i].share > best {
		add(hits[i])
	}
	slices.SortStableFunc(out, func(a, b *hit) int { return cmp.Compare(b.score, a.score) })
	return out, missing
}

// source returns a hit as it is shown.
func (s *search) source(c *corpus, h *hit, of *terms) Source {
	p := &c.passages[h.passage]
	t := &c.texts[p.of]
	out := Source{Form: t.form, Quote: strings.TrimSpace(valid(t.text[p.start:p.end])), Strings: h.strings}
	out.Before = strings.TrimLeft(valid(t.text[back(t.text, p.start):p.start]), " \t")
	out.After = strings.TrimRight(valid(t.text[p.end:ahead(t.text, p.end)]), " \t")
	if d := t.by; d != nil {
		out.When, out.Why, out.Pour, out.Handle = d.Created, d.Reason, s.pourOf(d), string(d.Handle)
	}
	switch {
	case t.form == formVerbatim, t.form == formLeft:
		out.Place = placeOf(t, p.start, p.end)
	case t.block != nil:
		start, end := within(t.block.Text(), out.Quote)
		out.Place = placeOf(t, start, end)
	case t.form == formRecord:
		out.Place = s.original(out.Quote, of)
	}
	return out
}

// valid returns a text that can be written as JSON.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// candidates is how many passages of the original are held against a line of a record.
const candidates = 20

// original returns where in the conversation the line of a record comes from that bears on a sentence; nil where that cannot be said.
func (s *search) original(line string, of *terms) *Place {
	asked := termsOf(line)
	hits := s.left.hits(of)
	best, where := 0, (*Place)(nil)
	for _, h := range hits[:min(len(hits), candidates)] {
		p := &s.left.passages[h.passage]
		t := &s.left.texts[p.of]
		if n := shared(t.text[p.start:p.end], &asked); n > best {
			best, where = n, placeOf(t, p.start, p.end)
		}
	}
	if best*2 < len(asked.words)+len(asked.strings) {
		return nil
	}
	return where
}

// shared returns how many strings and words of a line stand in a passage.
func shared(passage string, line *terms) (n int) {
	plain := small(passage)
	for _, str := range line.strings {
		if find(plain, small(str), 0) >= 0 {
			n++
		}
	}
	seen := map[string]bool{}
	eachWord(passage, func(_, _ int, w string) { seen[w] = true })
	for _, w := range line.words {
		if seen[w] {
			n++
		}
	}
	return n
}

// back returns where the context before a place begins.
func back(s string, at int) int {
	from := max(0, at-margin)
	for from < at && !utf8.RuneStart(s[from]) {
		from++
	}
	return from
}

// ahead returns where the context behind a place ends.
func ahead(s string, at int) int {
	to := min(len(s), at+margin)
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	return max(to, at)
}
