package summarize

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/lazyregexp"
)

// known is what messages say, in the forms in which it is searched. It may be searched by several goroutines at once.
type known struct {
	mu        sync.Mutex // of text, which learns while it is searched
	text      *fact.Index
	low       string // in small letters
	ungrouped string // with the signs between digits left out
	entries   []entry
	index     func() map[string][]int // of each word, the entries that have it
	unsaid    map[int]bool            // numbers of messages of the user's role in which the user says nothing
	results   []result                // oldest first
	output    func() *grams           // rows of words of results
}

func newKnown(text string, es []entry, results ...result) *known {
	k := &known{text: fact.IndexOf(text), low: strings.ToLower(text), ungrouped: ungrouped(text), entries: es, unsaid: map[int]bool{}, results: results}
	for i := range es {
		k.unsaid[es[i].number] = es[i].role != decant.RoleAssistant && !slices.ContainsFunc(es[i].parts, func(p part) bool { return p.said })
	}
	k.index, k.output = sync.OnceValue(k.words), sync.OnceValue(k.outputs)
	return k
}

// has reports whether the messages have a name, those of hexadecimal digits in any case.
func (k *known) has(name string) bool {
	k.mu.Lock()
	there := k.text.Contains(name)
	k.mu.Unlock()
	if there {
		return true
	}
	low := strings.ToLower(name)
	return strings.Trim(low, "0123456789abcdef-") == "" && strings.Contains(k.low, low)
}

var (
	override = lazyregexp.New(`(?i)\b(ignore|disregard|forget|override) (all |any |of |the |your |these |those )*(previous|prior|above|earlier|preceding|system) (\w+ )?(instruction|message|rule|prompt|order|direction)|忽略.{0,8}(指令|指示|规则)`)
	asUser   = lazyregexp.New(`(?i)\bthe user (\w+ly |also |now |then )?(wants?|wanted|asks?|asked|requests?|requested|says?|said|tells?|told|instructs?|instructed|demands?|demanded|orders?|ordered|prefers?)\b|用户(要求|希望|说|想要|命令)`)
)

// orders reports whether a line passes on what a tool or a client program says as if it were for the agent to obey: an order to
// forget its instructions, or a wish of the user from a message in which the user says nothing.
func (k *known) orders(line string) bool {
	if override.MatchString(line) {
		return true
	}
	first, _, _ := strings.Cut(line, " ")
	n, err := strconv.Atoi(strings.TrimPrefix(first, "m"))
	return err == nil && k.unsaid[n] && asUser.MatchString(line)
}

// ungrouped returns a text without commas, points, underscores and thin spaces between digits: 12,000 is 12000.
func ungrouped(text string) string {
	var w strings.Builder
	w.Grow(len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		between := i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1])
		if between && (c == ',' || c == '.' || c == '_' || c == '\'') {
			continue
		}
		w.WriteByte(c)
	}
	return w.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// shortWord is the length in bytes up to which a word tells nothing of where it is from.
const shortWord = 3

// words makes the index.
func (k *known) words() map[string][]int {
	out := map[string][]int{}
	for i := range k.entries {
		for _, p := range k.entries[i].parts {
			for w := range wordsOf(p.label + " " + cmp.Or(p.whole, p.body)) {
				if at := out[w]; len(at) == 0 || at[len(at)-1] != i {
					out[w] = append(at, i)
				}
			}
		}
	}
	return out
}

// wordsOf yields the words of a text that tell something.
func wordsOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		inner := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
		for w := range strings.FieldsFuncSeq(strings.ToLower(text), inner) {
			if w[0] >= 0x80 && !spaced(w) {
				for i, r := range w { // in pairs, where words are not separated
					_, next := utf8.DecodeRuneInString(w[i+utf8.RuneLen(r):])
					if next > 0 && !yield(w[i:i+utf8.RuneLen(r)+next]) {
						return
					}
				}
				continue
			}
			if len(w) > shortWord && !yield(w) {
				return
			}
		}
	}
}

// spaced reports whether a word is of a language that puts spaces between words.
func spaced(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// attribute puts the number of the message in front of a line that it is most likely from: it has half of its words at least,
// and of them those that few messages have. It returns false where there is none.
func (k *known) attribute(line string, from, to int) (string, bool) {
	counts, weights := map[int]int{}, map[int]float64{}
	all, user := 0, asUser.MatchString(line)
	for w := range wordsOf(line) {
		all++
		for _, i := range k.index()[w] {
			counts[i]++
			weights[i] += 1 / float64(len(k.index()[w]))
		}
	}
	best := -1
	for i, n := range counts {
		number := k.entries[i].number
		if 2*n < all || number < from || number > to || user && k.unsaid[number] {
			continue
		}
		if best < 0 || weights[i] > weights[best] || weights[i] == weights[best] && i > best { // of two the later one
			best = i
		}
	}
	if best < 0 {
		return line, false
	}
	return "m" + strconv.Itoa(k.entries[best].number) + " " + strings.TrimSpace(line), true
}
