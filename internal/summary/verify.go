package summary

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
)

// Limits say which summaries are accepted.
type Limits struct {
	Source  int            // tokens of the summarised messages; 0: unknown, not checked
	Budget  int            // most tokens of the repaired summary; 0: no limit but what a repair may take
	Counter decant.Counter // nil means an estimate by classes of characters
}

// Accept takes a summary, whoever wrote it, repairs it where facts are missing, and returns it with the facts
// that it keeps. It refuses, with an error that wraps decant.ErrSummary and says why, a text that is empty, an
// error message, not smaller than its source, or over its budget.
func Accept(ctx context.Context, text string, facts []decant.Fact, l Limits) (Summary, error) {
	if l.Counter == nil {
		l.Counter = classes{}
	}
	text = strings.TrimSpace(text)
	if why := unusable(text); why != "" {
		return Summary{}, fmt.Errorf("check summary: it is %s: %w", why, decant.ErrSummary)
	}
	r := fact.Check(ctx, facts, text)
	if len(r.Missing) > 0 {
		text = repair(text, r.Missing, l)
		r = fact.Check(ctx, facts, text)
	}
	s := Summary{Text: text, Tokens: l.Counter.Count(text), Facts: owned(r.Kept)}
	switch {
	case l.Source > 0 && s.Tokens >= l.Source:
		return s, fmt.Errorf("check summary: its %d tokens are not fewer than the %d of its source: %w", s.Tokens,
			l.Source, decant.ErrSummary)
	case l.Budget > 0 && s.Tokens > l.Budget:
		return s, fmt.Errorf("check summary: its %d tokens are over the budget of %d: %w", s.Tokens, l.Budget,
			decant.ErrSummary)
	}
	return s, nil
}

// owned returns facts with texts of their own. Those that were found are parts of what they were found in, all of which
// would stay in memory for as long as the checkpoint does.
func owned(facts []decant.Fact) []decant.Fact {
	out := slices.Clone(facts)
	for i := range out {
		out[i].Text = strings.Clone(out[i].Text)
	}
	return out
}

// unusable says why text is no summary at all, or nothing.
func unusable(text string) string {
	if text == "" {
		return "empty"
	}
	if len(text) > 400 {
		return ""
	}
	low := strings.ToLower(text)
	for _, p := range [...]string{"api error", "error:", "i'm sorry", "i am sorry", "i cannot", "i can't",
		"request timed out", "{\"error\"", "{\"type\":\"error\""} {
		if strings.HasPrefix(low, p) {
			return "an error message"
		}
	}
	return ""
}

// What a repair may add, as shares of the text. A sentence says what it is about; a bare name hardly does, so
// few of them are worth their room.
const (
	sentenceShare = .25
	nameShare     = .045
)

// IndexShare is the share of a budget to leave when a record is made, for Accept to name what it lacks: one list
// at the end instead of lines of mere names among those that say something.
const IndexShare = .04

// repair returns text with missing facts appended, within the budget of l: instructions, decisions and open
// items as they were said, in at most a quarter of the tokens of text; then names, the most important first,
// in less than a twentieth. It returns text itself when nothing fits.
func repair(text string, missing []decant.Fact, l Limits) string {
	if l.Counter == nil {
		l.Counter = classes{}
	}
	size := l.Counter.Count(text)
	left := math.MaxInt
	if l.Budget > 0 {
		left = l.Budget - size
	}
	var sayings, names []decant.Fact
	for _, f := range missing {
		switch f.Kind {
		case decant.FactInstruction, decant.FactDecision, decant.FactOpen:
			sayings = append(sayings, f)
		default:
			names = append(names, f)
		}
	}
	out := appended(text, "# "+alsoHeading+"\n", "\n", sayings, min(left, int(sentenceShare*float64(size))), l.Counter)
	left -= l.Counter.Count(out) - size
	return appended(out, "# "+namesHeading+"\n", " ", names, min(left, int(nameShare*float64(size))), l.Counter)
}

// appended returns text with facts behind it, one after the other, as many as room tokens hold.
func appended(text, head, sep string, facts []decant.Fact, room int, c decant.Counter) string {
	limit := c.Count(text) + room
	for room > 0 {
		out := list(text, head, sep, facts, room, c)
		over := c.Count(out) - limit
		if over <= 0 {
			return out
		}
		room -= over // the parts count less than the whole
	}
	return text
}

// list appends facts that count room tokens one by one.
func list(text, head, sep string, facts []decant.Fact, room int, c decant.Counter) string {
	room -= c.Count(head) + 1
	out := ""
	for _, f := range facts {
		s := f.Text + sep
		if f.Message > 0 && sep == "\n" {
			s = cite(f.Message) + s
		}
		if cost := c.Count(s) + 1; cost <= room {
			room -= cost
			out += s
		}
	}
	if out == "" {
		return text
	}
	return strings.TrimRight(text, "\n") + "\n" + head + strings.TrimRight(out, " \n") + "\n"
}

// HeadTail returns the first head and the last tail characters of text with a line between them that
// says how many are left out; text itself when it is not longer than both together.
func HeadTail(text string, head, tail int) string {
	n := utf8.RuneCountInString(text)
	if n <= head+tail {
		return text
	}
	i, j := offset(text, head), offset(text, n-tail)
	return text[:i] + "\n[… " + strconv.Itoa(n-head-tail) + " characters left out …]\n" + text[j:]
}

// offset returns where the character number n of s starts.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
