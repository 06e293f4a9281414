package summary

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
)

// A lexicon knows the facts and the words of lines: which line has which, and where each fact was seen.
type lexicon struct {
	limit   func() // called for each line
	weighed bool   // what is read now is not of the messages, and changes nothing of what their lines are worth
	lines   []line
	texts   []string // of the lines
	known   map[string]int32
	facts   []seen
	ids     map[string]int32
	spans   []int32 // facts of all lines, line after line
	beside  []int32 // of each of these, the most plain words beside it there
	words   []int32 // words of the lines of prose, line after line
	word    map[string]int32
	freq    []int32 // of each word, in how many lines
	named   []bool  // of each word, whether it is part of a name or a title somewhere
	found   []fact.Span
	small   []byte
}

// A line is one distinct line.
type line struct {
	span, spans  int32 // into lexicon.spans
	word, nwords int32 // into lexicon.words
	plain        int32 // plain words: lower case, four letters or more, no part of a name
	bare         bool  // it has names or URLs, and hardly a word beside them
	cost         float32
}

// A seen is a fact with where it was seen.
type seen struct {
	fact.Seen
	text   string
	kind   decant.FactKind
	chance float32 // that it is needed again
	plain  int32   // the most plain words beside it on one line
	on     int32   // where it is in lexicon.spans for the newest line that has it
}

func newLexicon(limit func()) *lexicon {
	return &lexicon{limit: limit, known: map[string]int32{}, ids: map[string]int32{}, word: map[string]int32{}}
}

// line returns the number of the line s. A line that is new is read; prose says that its words count.
func (x *lexicon) line(s string, prose bool) int32 {
	x.limit()
	if n, ok := x.known[s]; ok {
		return n
	}
	n := int32(len(x.lines))
	x.known[s] = n
	x.texts = append(x.texts, s)
	l := line{span: int32(len(x.spans)), word: int32(len(x.words)), cost: float32(estimate(s)) + newline, bare: true}
	for s := range strings.Lines(s) {
		x.scan(&l, s, prose)
	}
	l.spans, l.nwords = int32(len(x.spans))-l.span, int32(len(x.words))-l.word
	x.lines = append(x.lines, l)
	return n
}

// scan finds the facts and the words of one line of the text l.
func (x *lexicon) scan(l *line, s string, prose bool) {
	x.found = fact.Scan(x.found[:0], s)
	plain := x.read(s, prose)
	l.plain = max(l.plain, plain)
	l.bare = l.bare && (mostlyURLs(s, x.found) || !strings.ContainsAny(s, statement) && !hasWords(s))
	for _, f := range x.found {
		id := x.id(s[f.Start:f.End], f)
		at := &x.facts[id]
		if !x.weighed {
			at.plain = max(at.plain, plain)
		}
		if at.on >= l.span && at.on < int32(len(x.spans)) && x.spans[at.on] == id {
			x.beside[at.on] = max(x.beside[at.on], plain)
			continue
		}
		at.on = int32(len(x.spans))
		x.spans, x.beside = append(x.spans, id), append(x.beside, plain)
	}
}

// past is the chance that a fact of a finished job is needed again, as a share of that of one in hand.
const past = float32(.25)

// cold returns how much less what stands in a message is worth, as [entry.warm], if it stands before
// message present.
func cold(index, present int) float32 {
	if index < present {
		return past - 1
	}
	return 0
}

// newline is what a line break counts, in tokens.
const newline = .94

func (x *lexicon) id(s string, f fact.Span) int32 {
	if id, ok := x.ids[s]; ok {
		return id
	}
	id := int32(len(x.facts))
	x.ids[s] = id
	x.facts = append(x.facts, seen{Seen: fact.Seen{Inner: f.Inner}, text: s, kind: f.Kind})
	return id
}

// see notes that message i has a line.
func (x *lexicon) see(n int32, i int, by decant.Author) {
	for _, id := range x.of(n) {
		x.facts[id].Add(i, by)
	}
}

// of returns the facts of a line.
func (x *lexicon) of(n int32) []int32 {
	l := &x.lines[n]
	return x.spans[l.span : l.span+l.spans]
}

// said returns the words of a line.
func (x *lexicon) said(n int32) []int32 {
	l := &x.lines[n]
	return x.words[l.word : l.word+l.nwords]
}

// weigh gives every fact its chance after n messages. What has not been seen since message present is of jobs
// that are finished.
func (x *lexicon) weigh(n, present int) {
	x.weighed = true
	for i := range x.facts {
		x.facts[i].chance = float32(x.facts[i].Chance(n))
		if x.facts[i].Last < present {
			x.facts[i].chance *= past
		}
	}
}

// read finds the words of s. It returns the number of plain ones and, of prose, keeps all of two letters or
// more, and characters of scripts without blanks two by two.
func (x *lexicon) read(s string, prose bool) (plain int32) {
	begins, quoted := true, false // whether a sentence begins here, and whether this is within quotation marks
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case letter(c):
			j, low := wordEnd(s, i)
			if low && j-i >= 4 && standsAlone(s, i, j) {
				plain++
			}
			if prose && j-i >= 2 && j-i < 40 {
				x.intern(s[i:j], quoted || !begins && c < 'a' && !(c == 'I' && s[i+1] == '\''))
			}
			begins = false
			i = j
		case c >= 0xe3 && c < 0xee && i+3 <= len(s): // Chinese, Japanese, Korean
			switch s[i : i+3] {
			case "《", "「", "『":
				quoted = true
			case "》", "」", "』":
				quoted = false
			case "。":
				begins = true
			}
			if prose && i+6 <= len(s) && s[i+3] >= 0xe3 && s[i+3] < 0xee {
				x.intern(s[i:i+6], quoted)
			}
			i += 3
		case c == '"':
			quoted = !quoted
			i++
		case c == 0xe2 && (strings.HasPrefix(s[i:], "“") || strings.HasPrefix(s[i:], "”")):
			quoted = s[i+2] == 0x9c
			i += 3
		case c == '.' || c == '!' || c == '?' || c == ':':
			begins = true
			i++
		default:
			i++
		}
	}
	return plain
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// wordEnd returns the end of the word that starts at i, and whether it is all small letters.
func wordEnd(s string, i int) (int, bool) {
	low := true
	j := i
	for ; j < len(s); j++ {
		c := s[j]
		switch {
		case c >= 'a' && c <= 'z':
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '\'' && j+1 < len(s) && letter(s[j+1]):
			low = false
		default:
			return j, low
		}
	}
	return j, low
}

// standsAlone reports whether the word s[i:j] is no part of a name or a path.
func standsAlone(s string, i, j int) bool {
	if i > 0 && (s[i-1] == '_' || s[i-1] == '.' || s[i-1] == '/' || s[i-1] == '-' || s[i-1] >= '0' && s[i-1] <= '9') {
		return false
	}
	return j == len(s) || s[j] != '_' && s[j] != '/'
}

// intern counts a word, which may be part of a name or a title here.
func (x *lexicon) intern(w string, named bool) {
	x.small = x.small[:0]
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		x.small = append(x.small, c)
	}
	id, ok := x.word[string(x.small)]
	if !ok {
		id = int32(len(x.freq))
		x.word[string(x.small)] = id
		x.freq, x.named = append(x.freq, 0), append(x.named, false)
	}
	if !ok || !x.weighed {
		x.named[id] = x.named[id] || named
		x.freq[id]++
	}
	x.words = append(x.words, id)
}

// statement are characters by which a line of source says something without words.
const statement = "(){}=<>;|&!"

// mostlyURLs reports whether URLs are more than half of a line, as of the answers of web APIs.
func mostlyURLs(s string, found []fact.Span) bool {
	n := 0
	for _, f := range found {
		if f.Kind == decant.FactURL {
			n += f.End - f.Start
		}
	}
	return 2*n > len(s)
}

// hasWords reports whether a line has a word of three letters or more that is no part of a name, a path or a
// URL, or anything in a script without blanks.
func hasWords(s string) bool {
	for i := 0; i < len(s); {
		if s[i] >= 0xe3 && s[i] < 0xee {
			return true
		}
		if !inName(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && (inName(s[j]) || strings.HasPrefix(s[j:], "://")) {
			j++
		}
		if isWord(strings.TrimRight(s[i:j], ".")) {
			return true
		}
		i = j
	}
	return false
}

// inName reports whether c may be a part of a name: also of a path.
func inName(c byte) bool {
	return letter(c) || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-' ||
		c >= 0xc3 && c < 0xe2 || c >= 0x80 && c < 0xc0
}

// isWord reports whether s is three small letters or more, behind a capital or not.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && c < 0x80 && (i > 0 || c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) >= 4 || len(s) == 3 && s[0] >= 'a'
}
