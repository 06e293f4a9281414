package main

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/ruler"
)

// What is asked, and when.
const (
	reach       = 60  // messages after a place whose calls ask
	mostHolders = 10  // blocks that know the evidence
	mostAsked   = 400 // bytes of a question
)

// kinds are the kinds of questions.
var kinds = []string{"arguments", "paraphrase"}

// A question is asked at a place in a history.
type question struct {
	kind     string
	text     string
	evidence string
}

// questions returns what the calls behind block at ask about the blocks from from on. holders says how many of these have a string.
func (h history) questions(at int, holders map[string]int) (out []question) {
	shown := map[string]bool{} // since the place
	for i := at; i < len(h) && h[i].message < h[at].message+reach; i++ {
		b := &h[i]
		if b.Kind == decant.KindUse {
			if atom := rarest(b.values(), holders, shown); atom != "" {
				out = append(out, question{"arguments", short(b.values()), atom})
				if p := h.paraphrase(i, atom); p != "" {
					out = append(out, question{"paraphrase", p, atom})
				}
			}
		}
		facts(b.text, func(s string) { shown[s] = true })
	}
	return out
}

// rarest returns the string of a question that the fewest blocks hold, empty when none will do.
func rarest(values string, holders map[string]int, shown map[string]bool) (best string) {
	facts(short(values), func(s string) {
		n := holders[s]
		if n == 0 || n > mostHolders || shown[s] {
			return
		}
		if best == "" || n < holders[best] || n == holders[best] && s < best {
			best = s
		}
	})
	return best
}

// facts calls yield with the strings of a text that can be evidence: names, hashes, addresses, and of paths the last
// element. Numbers and options say nothing by themselves.
func facts(text string, yield func(string)) {
	ruler.Each(text, func(s string, k ruler.Kind) {
		switch k {
		case ruler.Number, ruler.Flag:
			return
		case ruler.Path:
			s = path.Base(s)
		}
		if len(s) > 3 {
			yield(s)
		}
	})
}

// short returns the beginning of a text, up to where a word ends.
func short(s string) string {
	if len(s) <= mostAsked {
		return s
	}
	if i := strings.LastIndexAny(s[:mostAsked], " \n"); i > 0 {
		return s[:i]
	}
	return strings.ToValidUTF8(s[:mostAsked], "")
}

// paraphrase asks for what call i uses without an exact string; empty if its name has no parts.
func (h history) paraphrase(i int, atom string) string {
	parts := partsOf(atom)
	if len(parts) < 2 {
		return ""
	}
	slices.Reverse(parts)
	said := ""
	for k := i - 1; k >= 0 && h[k].message == h[i].message; k-- {
		if h[k].Kind == decant.KindText {
			said = h[k].text + " " + said
		}
	}
	return short(strings.Join(parts, " ") + " " + plain(said))
}

// partsOf returns the words that a name or a path is made of, in small letters.
func partsOf(atom string) (out []string) {
	word := []rune{}
	end := func() {
		if len(word) > 1 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	for _, r := range atom {
		if !unicode.IsLetter(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && len(word) > 0 && unicode.IsLower(word[len(word)-1]) {
			end()
		}
		word = append(word, r)
	}
	end()
	return out
}

// plain returns a text without the exact strings in it.
func plain(text string) string {
	var exact []string
	ruler.Each(text, func(s string, _ ruler.Kind) { exact = append(exact, s) })
	slices.SortFunc(exact, func(a, b string) int { return len(b) - len(a) })
	for _, s := range exact {
		text = strings.ReplaceAll(text, s, " ")
	}
	return strings.Join(strings.Fields(text), " ")
}
