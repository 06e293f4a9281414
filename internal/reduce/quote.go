package reduce

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"unicode"

	"github.com/decantdev/decant/internal/tool"
)

// Lines that may be quoted.
const (
	longQuote   = 300 // bytes of a line that are quoted
	shortQuote  = 6   // bytes under which a line says nothing
	fewWords    = 5   // number of words below which a line is almost only names
	aloneWeight = 0.1 // what such a line is worth, as a share of one that says what its names are
)

// whole is a text to be replaced by an outline.
type whole struct {
	text    string
	tokens  int
	heading string // what goes before the outline, and need not be said again
	call    *tool.Call
	own     int // how often the names in text are counted as in view because of text itself
}

// outline returns the most telling lines of w and the names that they leave out, in the room that q
// gives, empty when no line is worth it.
func (x *nameIndex) outline(w *whole, q Quoting) string {
	lines, names := q.room(w.tokens)
	known := map[string]bool{w.call.Path: true, w.call.URL: true}
	eachName(w.heading, func(t string, _ kind, _ int) { known[t] = true })
	quoted := x.quotes(w.text, lines, known)
	if quoted == "" {
		return ""
	}
	found := collect(w.text)
	for t := range known {
		delete(found, t)
	}
	return "; from it:\n" + quoted + x.list(x.choose(x.weigh(found, w.own), w.tokens, names))
}

// quote is a line that a stub may quote.
type quote struct {
	text  string
	at    int // its number
	names []string
	cost  int // tokens
	value float64
	alone bool // it is almost only names
}

// quotes returns the lines of text that hold the most names of value which are not known yet, in
// their order, in at most limit tokens. What it quotes becomes known.
func (x *nameIndex) quotes(text string, limit int, known map[string]bool) string {
	value := values(text, known)
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
			best.cost = x.counter.Count(best.text) + 1
		}
		if best.cost > limit {
			continue
		}
		limit -= best.cost
		chosen = append(chosen, best)
		for _, n := range best.names {
			delete(value, n)
			known[n] = true
			x.shown[n]++
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
func values(text string, known map[string]bool) map[string]float64 {
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
		if len(t) < shortQuote || seen[t] || tool.Routine(l) {
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
