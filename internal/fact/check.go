package fact

import (
	"context"
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

// Check reports which of the facts text still has. Exact facts must be in it letter by letter. Of an
// instruction, a decision or an open item most words must be close together, with all of its names, numbers
// and negations. What it has not come to when ctx is done counts as missing.
func Check(ctx context.Context, facts []decant.Fact, text string) Result {
	c := newChecker(facts, text)
	r := Result{Score: 1, ByKind: map[decant.FactKind]float64{}}
	all, kept := 0.0, 0.0
	total := map[decant.FactKind]float64{}
	for _, f := range facts {
		all += f.Weight
		total[f.Kind] += f.Weight
		if ctx.Err() != nil || !c.has(f) {
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
	find  *Index             // in text
	exact map[string]bool    // the facts in it
	where map[string][]int32 // lines that have a word that some sentence wants
	lines []string
}

func newChecker(facts []decant.Fact, text string) *checker {
	c := &checker{text: text, find: IndexOf(text), exact: map[string]bool{}, where: map[string][]int32{}}
	for _, s := range Scan(nil, text) {
		c.exact[text[s.Start:s.End]] = true
	}
	for _, f := range facts {
		if f.Kind.Sentence() {
			words(f.Text, func(w string) { c.where[w] = nil })
		}
	}
	if len(c.where) > 0 {
		c.index()
	}
	return c
}

// index notes the lines of every wanted word.
func (c *checker) index() {
	n := int32(0)
	for line := range strings.Lines(c.text) {
		c.lines = append(c.lines, line)
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
	case f.Kind.Sentence():
		return c.find.Contains(f.Text) || c.says(f.Text)
	case c.exact[f.Text]:
		return true
	case f.Kind != decant.FactNumber && len(f.Text) >= 6:
		return c.find.Contains(f.Text)
	}
	return c.hasWord(f.Text)
}

// hasWord reports whether the text has w as a whole word.
func (c *checker) hasWord(w string) bool {
	for at := range c.find.Places(w) {
		if isWord(c.text, at, at+len(w)) {
			return true
		}
	}
	return false
}

// enough is the share of a sentence's words that must be within three lines, beside all of its names, numbers
// and negations.
const enough = .7

// says reports whether three lines of the text say what the sentence says: most of its words, and all that
// a word more or less would turn into something else.
func (c *checker) says(sentence string) bool {
	seen := map[string]bool{}
	votes := map[int32]int{}
	words(sentence, func(w string) {
		if seen[w] {
			return
		}
		seen[w] = true
		last := int32(-1)
		for _, n := range c.where[w] {
			for k := max(n, last+1); k <= n+2; k++ {
				votes[k]++
				last = k
			}
		}
	})
	least := enough * float64(len(seen))
	for k, n := range votes {
		if float64(n) >= least && c.holds(k, sentence) {
			return true
		}
	}
	return false
}

// holds reports whether the three lines that end with line k have the names, the numbers and the negations
// of a sentence.
func (c *checker) holds(k int32, sentence string) bool {
	from, to := max(0, k-2), min(int(k)+1, len(c.lines))
	text := strings.Join(c.lines[from:to], " ")
	want, got := negates(strings.ToLower(sentence)), negates(strings.ToLower(text))
	return (want == 0) == (got == 0) && got >= want && hasNames(text, sentence)
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

// negations are the words that turn a sentence into its opposite.
var negations = []string{
	"not", "never", "no", "none", "don't", "dont", "doesn't", "can't", "cannot", "mustn't", "shouldn't",
	"won't", "without", "avoid", "nicht", "nie", "kein", "keine", "jamais", "nunca",
}

// negates counts the negations in a text in small letters.
func negates(low string) (n int) {
	for _, w := range negations {
		for rest := low; ; n++ {
			at := phrase(rest, w)
			if at < 0 {
				break
			}
			rest = rest[at:]
		}
	}
	for _, r := range low {
		if strings.ContainsRune("不别勿禁", r) {
			n++
		}
	}
	return n + strings.Count(low, "没有")
}

// hasNames reports whether text has every name and number of a sentence: each word with a digit, with a
// capital that does not begin the sentence, or with a mark inside.
func hasNames(text, sentence string) bool {
	for i, w := range strings.FieldsFunc(sentence, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && r != '/' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		w = strings.Trim(w, ".-_/")
		if w == "" || !(strings.ContainsAny(w, "0123456789_./") || i > 0 && unicode.IsUpper([]rune(w)[0]) && w != "I") {
			continue
		}
		if !hasWord(text, w) {
			return false
		}
	}
	return true
}

// hasWord reports whether text has w as a whole word.
func hasWord(text, w string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], w)
		if i < 0 {
			return false
		}
		i += at
		at = i + len(w)
		if isWord(text, i, at) {
			return true
		}
	}
}

// isWord reports whether text[from:to] is no part of a longer word.
func isWord(text string, from, to int) bool {
	return (from == 0 || class[text[from-1]]&wordByte == 0) && (to == len(text) || class[text[to]]&wordByte == 0)
}
