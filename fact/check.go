package fact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant"
)

// A Result says what a text keeps of a list of facts.
type Result struct {
	Score   float64                     // share of the weight that is kept, 0 to 1; 1 when there are no facts
	ByKind  map[decant.FactKind]float64 // the same of each kind that there are facts of
	Kept    []decant.Fact               // in the order of the facts
	Missing []decant.Fact               // in the order of the facts
}

// Check says which of the facts text still has. Facts that have to be repeated exactly must stand in it
// letter by letter; of an instruction, a decision or an open item most words must stand together.
func Check(facts []decant.Fact, text string) Result {
	c := newChecker(facts, text)
	r := Result{Score: 1, ByKind: map[decant.FactKind]float64{}}
	all, kept := 0.0, 0.0
	total := map[decant.FactKind]float64{}
	for _, f := range facts {
		all += f.Weight
		total[f.Kind] += f.Weight
		if !c.has(f) {
			r.Missing = append(r.Missing, f)
			continue
		}
		kept += f.Weight
		r.ByKind[f.Kind] += f.Weight
		r.Kept = append(r.Kept, f)
	}
	if all > 0 {
		r.Score = kept / all
	}
	for k, t := range total {
		if t > 0 {
			r.ByKind[k] /= t
		}
	}
	return r
}

// A checker holds a text in the forms in which it is searched.
type checker struct {
	text  string
	exact map[string]bool    // the facts in it
	where map[string][]int32 // lines that have a word that some sentence wants
}

func newChecker(facts []decant.Fact, text string) *checker {
	c := &checker{text: text, exact: map[string]bool{}, where: map[string][]int32{}}
	for _, s := range Scan(nil, text) {
		c.exact[text[s.Start:s.End]] = true
	}
	for _, f := range facts {
		if sentence(f.Kind) {
			words(f.Text, func(w string) { c.where[w] = nil })
		}
	}
	if len(c.where) > 0 {
		c.index()
	}
	return c
}

func sentence(k decant.FactKind) bool {
	return k == decant.FactInstruction || k == decant.FactDecision || k == decant.FactOpen
}

// index notes the lines of every wanted word.
func (c *checker) index() {
	n := int32(0)
	for line := range strings.Lines(c.text) {
		words(line, func(w string) {
			if at, ok := c.where[w]; ok && (len(at) == 0 || at[len(at)-1] != n) {
				c.where[w] = append(at, n)
			}
		})
		n++
	}
}

func (c *checker) has(f decant.Fact) bool {
	switch {
	case sentence(f.Kind):
		return strings.Contains(c.text, f.Text) || c.says(f.Text)
	case f.Kind == decant.FactNumber:
		return c.exact[f.Text] || c.alone(f.Text)
	}
	return c.exact[f.Text] || len(f.Text) >= 6 && strings.Contains(c.text, f.Text) || c.alone(f.Text)
}

// alone reports whether s stands in the text without being a part of a longer word or number.
func (c *checker) alone(s string) bool {
	for at := 0; ; {
		i := strings.Index(c.text[at:], s)
		if i < 0 {
			return false
		}
		i += at
		at = i + len(s)
		if (i == 0 || class[c.text[i-1]]&wordByte == 0) && (at == len(c.text) || class[c.text[at]]&wordByte == 0) {
			return true
		}
	}
}

// enough is the share of a sentence's words that must stand within three lines.
const enough = .7

// says reports whether most words of a sentence stand together.
func (c *checker) says(sentence string) bool {
	seen := map[string]bool{}
	votes := map[int32]int{}
	best := 0
	words(sentence, func(w string) {
		if seen[w] {
			return
		}
		seen[w] = true
		last := int32(-1)
		for _, n := range c.where[w] {
			for k := max(n, last+1); k <= n+2; k++ {
				votes[k]++
				best = max(best, votes[k])
				last = k
			}
		}
	})
	return float64(best) >= enough*float64(len(seen))
}

// words yields the words of four letters or more in s, in small letters, and pairs of neighbours in
// scripts without blanks.
func words(s string, yield func(string)) {
	for i := 0; i < len(s); {
		switch c := class[s[i]]; {
		case c&letter != 0:
			j := i
			for j < len(s) && class[s[j]]&wordByte != 0 {
				j++
			}
			if j-i >= 4 {
				yield(strings.ToLower(s[i:j]))
			}
			i = j
		case s[i] >= 0x80:
			i += pair(s[i:], yield)
		default:
			i++
		}
	}
}

// pair yields the first two characters of s if they are of one word, and returns the size of the first.
func pair(s string, yield func(string)) int {
	r, n := utf8.DecodeRuneInString(s)
	if q, k := utf8.DecodeRuneInString(s[n:]); unicode.IsLetter(r) && q >= 0x80 && unicode.IsLetter(q) {
		yield(s[:n+k])
	}
	return n
}
