package summarize

import (
	"strings"
	"unicode"
)

// A tongue is a language that can be told from others by its script or by its small words; the zero value is none of them.
type tongue string

// scripts are told by their letters.
var scripts = [...]struct {
	name  tongue
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

// smallWords are frequent words that hardly any other of these languages has.
var smallWords = [...]struct {
	name  tongue
	words string
}{
	{"English", " the and of to is that for with this was not are be it you have from which by "},
	{"German", " der die das und nicht ist ich zu den mit auf für ein eine dass wird sich auch bitte wie noch wurde "},
	{"French", " le les des et est pas une que pour dans qui sur avec vous nous ce cette être sont "},
	{"Spanish", " el los las y es una que para con por no se del como pero está este ser más "},
	{"Italian", " il gli e è una che per con non del della sono questo come anche più nel alla "},
	{"Portuguese", " os as e é uma que para com não do da em por está este como mais foi dos "},
	{"Dutch", " het een en niet van de is dat voor met op zijn aan wordt ook maar deze bij naar "},
}

// tongueOf returns the language of a text, where that is clear. Code and names are Latin in any language, so every sixth
// letter of another script counts more than all others.
func tongueOf(text string) tongue {
	counts := make([]int, len(scripts))
	latin := 0
	for _, r := range text {
		switch {
		case r < 0x80:
			if unicode.IsLetter(r) {
				latin++
			}
		case unicode.IsLetter(r):
			for i := range scripts {
				if unicode.In(r, scripts[i].table...) {
					counts[i]++
					break
				}
			}
		}
	}
	for i, n := range counts {
		if n > 0 && (n*6 > latin || i < 2 && (n+counts[2])*6 > latin && n*10 > counts[2]) {
			return scripts[i].name
		}
	}
	return spoken(text)
}

// spoken tells languages of the Latin script apart: the one whose small words are at least a twelfth of all words and
// twice as many as those of any other.
func spoken(text string) tongue {
	var counts [len(smallWords)]int
	all := 0
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		all++
		for i := range smallWords {
			if strings.Contains(smallWords[i].words, " "+w+" ") {
				counts[i]++
			}
		}
	}
	best, second := -1, 0
	for i, n := range counts {
		switch {
		case best < 0 || n > counts[best]:
			if best >= 0 {
				second = max(second, counts[best])
			}
			best = i
		default:
			second = max(second, n)
		}
	}
	if n := counts[best]; n < 5 || n*12 < all || n < 2*second {
		return ""
	}
	return smallWords[best].name
}
