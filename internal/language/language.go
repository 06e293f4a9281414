// Package language tells in which language a text is written, by its script and by its small words. Addresses, names, paths
// and code are no evidence.
package language

import (
	"strings"
	"unicode"
)

// scripts are told by their letters.
var scripts = [...]struct {
	name  string
	table []*unicode.RangeTable
}{
	{"Japanese", []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{"Korean", []*unicode.RangeTable{unicode.Hangul}},
	{"Chinese", []*unicode.RangeTable{unicode.Han}},
	{"Russian", []*unicode.RangeTable{unicode.Cyrillic}},
	{"Arabic", []*unicode.RangeTable{unicode.Arabic}},
	{"Hebrew", []*unicode.RangeTable{unicode.Hebrew}},
	{"Greek", []*unicode.RangeTable{unicode.Greek}},
	{"Hindi", []*unicode.RangeTable{unicode.Devanagari}},
	{"Thai", []*unicode.RangeTable{unicode.Thai}},
}

// smallWords are frequent words that hardly any other of these languages has, and none that addresses have: "com", "no".
var smallWords = [...]struct {
	name  string
	words string
}{
	{"English", " the and of to is that for with this was not are be it you have from which by "},
	{"German", " der die das und nicht ist ich zu den mit auf für ein eine dass wird sich auch bitte wie noch wurde "},
	{"French", " le les des et est pas une que pour dans qui avec vous nous cette être sont aux ce "},
	{"Spanish", " el los las y una que para con por se del como pero está este ser más esta "},
	{"Italian", " il gli è una che non del della sono questo anche più nel alla dei delle "},
	{"Portuguese", " os é uma que para não da por está este mais foi dos são também você isso "},
	{"Dutch", " het een niet van dat voor met zijn aan wordt ook maar deze bij naar "},
}

// A Counter counts the letters and the small words of texts in one language. The zero value is ready to use.
type Counter struct {
	scripts [len(scripts)]int
	latin   int // letters of words, not of names
	words   int
	small   [len(smallWords)]int
}

// Of returns the English name of the language of a text, "" where that is not clear.
func Of(text string) string {
	var c Counter
	c.Add(text)
	return c.Language()
}

// Add counts a text. What stands in a fence of code does not count.
func (c *Counter) Add(text string) {
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "```") {
			code = !code
			continue
		}
		if code {
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				for word := range strings.FieldsSeq(part) {
					c.word(word)
				}
			}
		}
	}
}

// word counts what stands between two blanks.
func (c *Counter) word(w string) {
	latin := 0
	for _, r := range w {
		switch {
		case r < 0x80:
			if unicode.IsLetter(r) {
				latin++
			}
		case unicode.IsLetter(r):
			for i := range scripts {
				if unicode.In(r, scripts[i].table...) {
					c.scripts[i]++
					break
				}
			}
		}
	}
	if w = strings.ToLower(strings.Trim(w, ".,:;!?\"'()[]*“”„’…")); isName(w) {
		return
	}
	c.latin += latin
	c.words++
	for i := range smallWords {
		if strings.Contains(smallWords[i].words, " "+w+" ") {
			c.small[i]++
		}
	}
}

// isName reports whether a word is an address, a path, an identifier or a piece of code rather than a word of a language.
func isName(w string) bool {
	return w == "" || strings.ContainsFunc(w, func(r rune) bool {
		return unicode.IsDigit(r) || strings.ContainsRune("./\\_@#=<>{}()[]$%&|+*~^:;", r)
	})
}

// Language returns the English name of the language of what was counted, "" where that is not clear. Names and code are
// Latin in any language, so every sixth letter of another script counts more than all others. Kana beside Chinese
// characters is Japanese.
func (c *Counter) Language() string {
	han := c.scripts[2]
	for i, n := range c.scripts {
		if n > 0 && (n*6 > c.latin || i < 2 && (n+han)*6 > c.latin) && (i > 1 || n*10 > han) {
			return scripts[i].name
		}
	}
	return c.spoken()
}

// spoken tells languages of the Latin script apart: the one whose small words are at least a twelfth of all words and
// twice as many as those of any other.
func (c *Counter) spoken() string {
	best, second := 0, 0
	for i, n := range c.small {
		if n > c.small[best] {
			best = i
		}
	}
	for i, n := range c.small {
		if i != best {
			second = max(second, n)
		}
	}
	if n := c.small[best]; n < 5 || n*12 < c.words || n < 2*second {
		return ""
	}
	return smallWords[best].name
}
