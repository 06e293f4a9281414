package reduce

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"unicode"

	"github.com/decantdev/decant/internal/code"
	"github.com/decantdev/decant/internal/tool"
)

// A Quoting says how many of its own lines a stub quotes of what it stands for. The zero value quotes
// none: the stub lists names only.
//
// What a name is worth to an agent depends on the line that it stands in. Measured on recorded
// sessions, a fifth of a result, taken line by line for the names in them, keeps nearly all that the
// agent writes next, and costs less than leaving the whole result in view for a few rounds more.
type Quoting struct {
	Share float64 // of the result's tokens that lines may take; zero quotes nothing
	Most  int     // tokens that lines may take whatever the share; zero means 1,000
	Names int     // tokens of further names behind the lines; zero means 100
}

const (
	mostQuoted  = 1000 // Quoting.Most
	quotedNames = 100  // Quoting.Names
	longQuote   = 300  // bytes of a line that are quoted
	shortQuote  = 6    // bytes under which a line says nothing
	fewWords    = 5    // words of a line under which its names stand almost alone
	aloneWeight = 0.1  // what such a line is worth, as a share of one that says what its names are
	writtenPart = 0.5  // share of Quoting.Share for what the agent wrote itself: it is in the file
)

func (q Quoting) on() bool { return q.Share > 0 }

// written returns q for the arguments of a call instead of its result.
func (q Quoting) written() Quoting {
	q.Share *= writtenPart
	return q
}

// room returns the tokens for lines and for names in the stub of a result of n tokens.
func (q Quoting) room(n int) (lines, names int) {
	part := int(float64(n) * q.Share)
	return min(cmp.Or(q.Most, mostQuoted), part), min(cmp.Or(q.Names, quotedNames), part)
}

// Left returns about how many tokens the stub of a result of n tokens takes, without making it.
func (q Quoting) Left(n int) int {
	const frame = 30 // heading and ending
	if !q.on() {
		return min(maxHeading+maxNames, n/3+frame)
	}
	lines, names := q.room(n)
	return lines + names + frame
}

// quotedStub completes the stub of r, which has n tokens, with its most telling lines.
func (s *Subject) quotedStub(r *result, line string, n int) string {
	quoted := s.outline(&whole{text: s.masked(r), tokens: n, heading: line, call: &r.call}, s.opts.Quote)
	if quoted == "" {
		_, names := s.opts.Quote.room(n)
		return s.stubLine(r, line, n, names)
	}
	return finish(line+quoted, r)
}

// whole is a text that an outline is to stand for.
type whole struct {
	text    string
	tokens  int
	heading string // what goes before the outline, and need not be said again
	call    *tool.Call
	own     int // how often the names in text are counted as in view because of text itself
}

// outline returns the most telling lines of w and the names that they leave out, in the room that q
// gives, empty when no line is worth it.
func (s *Subject) outline(w *whole, q Quoting) string {
	lines, names := q.room(w.tokens)
	known := map[string]bool{w.call.Path: true, w.call.URL: true}
	eachName(w.heading, func(t string, _ kind, _ int) { known[t] = true })
	quoted := s.quotes(w.text, lines, known)
	if quoted == "" {
		return ""
	}
	found := collect(w.text)
	for t := range known {
		delete(found, t)
	}
	return "; from it:\n" + quoted + s.list(s.choose(s.weigh(found, w.own), w.tokens, names))
}

// quote is a line that a stub may quote.
type quote struct {
	text  string
	at    int // its number
	names []string
	cost  int // tokens
	value float64
	alone bool // its names stand almost alone
}

// quotes returns the lines of text that hold the most names of value which are not known yet, in
// their order, in at most limit tokens. What it quotes becomes known.
func (s *Subject) quotes(text string, limit int, known map[string]bool) string {
	value := s.values(text, known)
	var chosen []quote
	for q := candidates(text, value); q.Len() > 0 && limit > 4; {
		best := heap.Pop(q).(quote)
		if v := best.worth(value); v < best.value { // others have said some of it since
			if best.value = v; v > 0 {
				heap.Push(q, best)
			}
			continue
		}
		if best.cost == 0 {
			best.cost = s.opts.Counter.Count(best.text) + 1
		}
		if best.cost > limit {
			continue
		}
		limit -= best.cost
		chosen = append(chosen, best)
		for _, n := range best.names {
			delete(value, n)
			known[n] = true
			s.visible()[n]++
		}
	}
	slices.SortFunc(chosen, func(a, b quote) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	for _, q := range chosen {
		out.WriteString(q.text)
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// values returns what each name in text is worth that is not known. That a name is in view elsewhere
// takes nothing from it: the line says what it is here.
func (s *Subject) values(text string, known map[string]bool) map[string]float64 {
	found := collect(text)
	for t := range known {
		delete(found, t)
	}
	value := make(map[string]float64, len(found))
	for t, n := range found {
		value[t] = n.value(false)
	}
	return value
}

// worth returns the value of the names in q.
func (q *quote) worth(value map[string]float64) (sum float64) {
	for _, n := range q.names {
		sum += value[n]
	}
	if q.alone {
		sum *= aloneWeight
	}
	return sum
}

// candidates returns the lines of text with names of value, each once.
func candidates(text string, value map[string]float64) *quotes {
	var out quotes
	seen := map[string]bool{}
	at := 0
	for l := range strings.Lines(text) {
		at++
		t := quotable(l)
		if len(t) < shortQuote || seen[t] || code.Routine(l) {
			continue
		}
		seen[t] = true
		q := quote{text: t, at: at, alone: words(t) < fewWords}
		q.note(value)
		if q.value = q.worth(value); q.value > 0 {
			out = append(out, q)
		}
	}
	heap.Init(&out)
	return &out
}

// words counts the words of at least three letters in a line.
func words(line string) (n int) {
	for w := range strings.FieldsFuncSeq(line, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) > 2 {
			n++
		}
	}
	return n
}

// note finds the names in q, each once.
func (q *quote) note(value map[string]float64) {
	add := func(n string) {
		if value[n] > 0 && !slices.Contains(q.names, n) {
			q.names = append(q.names, n)
		}
	}
	eachName(q.text, func(n string, _ kind, _ int) { add(n) })
	if d := defines(q.text); d != "" {
		add(d)
	}
}

// quotable returns a line as it is quoted: without the number that a client put before it, which may
// no longer be right, and not longer than anybody reads.
func quotable(line string) string {
	t := strings.TrimSpace(line)
	if digits := len(t) - len(strings.TrimLeft(t, "0123456789")); digits > 0 {
		if rest, ok := strings.CutPrefix(t[digits:], "→"); ok {
			t = strings.TrimSpace(rest)
		}
	}
	if len(t) > longQuote {
		return t[:runeStart(t, longQuote)] + "…"
	}
	return t
}

// quotes is a heap of lines, the most valuable first, of equal ones the earlier.
type quotes []quote

// Len, Less, Swap, Push and Pop are for package heap.
func (q quotes) Len() int { return len(q) }
func (q quotes) Less(i, j int) bool {
	return q[i].value > q[j].value || q[i].value == q[j].value && q[i].at < q[j].at
}
func (q quotes) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *quotes) Push(x any)   { *q = append(*q, x.(quote)) }
func (q *quotes) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
