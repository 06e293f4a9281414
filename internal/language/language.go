// Package language tells in which language a text is, where that is clear. Addresses, paths, code and names are in none.
package language

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Language is the English name of a language. Empty means that it is not clear.
type Language string

// Languages that callers ask for by name.
const (
	Chinese  Language = "Chinese"
	English  Language = "English"
	Japanese Language = "Japanese"
)

// scripts are told by their letters. Those in front of Han are of languages that write with Han, too.
var scripts = [...]struct {
	name  Language
	table []*unicode.RangeTable
}{
	{Japanese, []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{"Korean", []*unicode.RangeTable{unicode.Hangul}},
	{Chinese, []*unicode.RangeTable{unicode.Han}},
	{"Russian", []*unicode.RangeTable{unicode.Cyrillic}},
	{"Arabic", []*unicode.RangeTable{unicode.Arabic}},
	{"Hebrew", []*unicode.RangeTable{unicode.Hebrew}},
	{"Greek", []*unicode.RangeTable{unicode.Greek}},
	{"Hindi", []*unicode.RangeTable{unicode.Devanagari}},
	{"Thai", []*unicode.RangeTable{unicode.Thai}},
}

// han is the index of the Chinese script.
const han = 2

// smallWords are frequent words of languages in the Latin script. The other lists have no word that is one of English, the
// end of a domain or a letter by itself: "as", "do", "die", "com", "e".
var smallWords = [...]struct {
	name  Language
	words string
}{
	{English, "the and of to is that for with this was not are be it you have from which by"},
	{"German", "der das und nicht ist ich zu mit auf für ein eine dass wird sich auch bitte wie noch wurde wenn oder bei nach"},
	{"French", "le les des est une que pour dans qui avec vous nous ce cette être sont pas mais aussi au aux"},
	{"Spanish", "el los las es una que para con por del como pero está este más muy también lo hay"},
	{"Italian", "il gli è una che per non della sono questo come anche più nel alla di lo ma dei"},
	{"Portuguese", "os é uma que para não da por está este como mais foi dos das na ao um são também"},
	{"Dutch", "het een en niet dat voor met zijn aan wordt ook maar deze bij naar je ik moet"},
}

// small maps each small word to the languages that have it, a bit for each.
var small = func() map[string]uint {
	m := map[string]uint{}
	for i := range smallWords {
		for w := range strings.FieldsSeq(smallWords[i].words) {
			m[w] |= 1 << i
		}
	}
	return m
}()

// Of returns the language of a text.
func Of(text string) Language {
	var s Sample
	s.Add(text)
	return s.Language()
}

// A Sample is what was counted in texts of one author. The zero value is an empty one.
type Sample struct {
	letters [len(scripts)]int // of each script
	latin   int               // letters of words
	words   int               // in small letters
	hits    [len(smallWords)]int
	seen    [len(smallWords)]map[string]bool // the different small words among them
	line    []string                         // words of the line that is read
}

// Add counts a text. What stands between fences or backquotes is code.
func (s *Sample) Add(text string) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			s.read(line)
		}
	}
}

// read counts a line. One with more addresses, code and figures than words says nothing of small words.
func (s *Sample) read(line string) {
	words := s.line[:0]
	other, start, quoted := 0, -1, false
	end := func(at int) {
		if start < 0 {
			return
		}
		switch run := strings.Trim(line[start:at], asciiSigns); {
		case run == "":
		case isWord(run):
			words = append(words, run)
		default:
			other++
		}
		start = -1
	}
	for i, r := range line {
		switch {
		case r == '`':
			end(i)
			quoted = !quoted
		case quoted:
		case r > ' ' && r < 0x80 || r >= 0x80 && unicode.In(r, unicode.Latin):
			if start < 0 {
				start = i
			}
		default:
			end(i)
			s.letter(r)
		}
	}
	end(len(line))
	s.line = words
	for _, w := range words {
		s.latin += len(w)
	}
	if len(words) >= other {
		s.count(words)
	}
}

// asciiSigns stand around words.
const asciiSigns = "!\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~"

// isWord reports whether a run of characters is a word, as against an address, a path, code or a number.
func isWord(run string) bool {
	for i, r := range run {
		if !unicode.IsLetter(r) && r != '\'' && r != '-' || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	return true
}

// letter counts a letter of a script other than Latin.
func (s *Sample) letter(r rune) {
	if r < 0x80 || !unicode.IsLetter(r) {
		return
	}
	for i := range scripts {
		if unicode.In(r, scripts[i].table...) {
			s.letters[i]++
			return
		}
	}
}

// count counts words. One that begins with a capital may be a name.
func (s *Sample) count(words []string) {
	for _, w := range words {
		if first, _ := utf8.DecodeRuneInString(w); unicode.IsUpper(first) {
			continue
		}
		s.words++
		for i, in := 0, small[w]; in != 0; i, in = i+1, in>>1 {
			if in&1 == 0 {
				continue
			}
			if s.hits[i]++; s.seen[i] == nil {
				s.seen[i] = map[string]bool{}
			}
			s.seen[i][w] = true
		}
	}
}

// Language returns the language of what was counted. Names and code are Latin in any language, so every sixth letter of
// another script counts more than all others. Han are Chinese unless a tenth as many letters are of Japanese or Korean.
func (s *Sample) Language() Language {
	for i, n := range s.letters {
		if n == 0 {
			continue
		}
		if n*6 > s.latin || i < han && n*10 > s.letters[han] && (n+s.letters[han])*6 > s.latin {
			if i < han && n*10 <= s.letters[han] {
				continue
			}
			return scripts[i].name
		}
	}
	return s.spoken()
}

// What small words must come to for a language to be clear.
const (
	leastHits  = 5  // of them
	leastKinds = 3  // different ones
	mostWords  = 12 // words for each of them
	lead       = 2  // times as many as of any other language
)

// spoken tells languages of the Latin script apart by their small words.
func (s *Sample) spoken() Language {
	best, second := 0, 0
	for i, n := range s.hits {
		if i == 0 {
			continue
		}
		if n > s.hits[best] {
			best, second = i, s.hits[best]
		} else {
			second = max(second, n)
		}
	}
	if n := s.hits[best]; n < leastHits || len(s.seen[best]) < leastKinds || n*mostWords < s.words || n < lead*second {
		return ""
	}
	return smallWords[best].name
}
