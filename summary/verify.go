package summary

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/fact"
)

// Limits say which summaries are accepted.
type Limits struct {
	Source   int            // tokens of what the summary stands for; 0: unknown, not checked
	Budget   int            // most tokens of the repaired summary; 0: no limit but the quarter
	MinScore float64        // least share of fact weight after repair, 0 to 1, see Accept
	Counter  decant.Counter // nil means an estimate by classes of characters
}

// Accept takes a summary, whoever wrote it, repairs it where facts are missing, and returns it with its
// score and the facts that it keeps. It refuses, with an error that wraps decant.ErrSummary and says
// why, a text that is empty, an error message, not smaller than its source, or below the least score.
//
// The least score is a share of what can be asked of the budget: of the weight of the facts that fit into
// a quarter of it. Nothing is asked where the facts together weigh less than one that is sure to be
// needed, as in a meeting.
func Accept(text string, facts []decant.Fact, l Limits) (Summary, error) {
	if l.Counter == nil {
		l.Counter = classes{}
	}
	text = strings.TrimSpace(text)
	if why := unusable(text); why != "" {
		return Summary{}, fmt.Errorf("check summary: it is %s: %w", why, decant.ErrSummary)
	}
	r := Verify(facts, text)
	if len(r.Missing) > 0 {
		text = Repair(text, r.Missing, l)
		r = Verify(facts, text)
	}
	s := Summary{Text: text, Tokens: l.Counter.Count(text), Score: r.Score, Facts: r.Kept}
	least := l.MinScore * attainable(facts, l)
	switch {
	case l.Source > 0 && s.Tokens >= l.Source:
		return s, fmt.Errorf("check summary: its %d tokens are not fewer than the %d of its source: %w", s.Tokens, l.Source, decant.ErrSummary)
	case l.Budget > 0 && s.Tokens > l.Budget:
		return s, fmt.Errorf("check summary: its %d tokens are over the budget of %d: %w", s.Tokens, l.Budget, decant.ErrSummary)
	case r.Score < least:
		return s, fmt.Errorf("check summary: it keeps %.2f of the facts' weight, %.2f are asked for: %w", r.Score, least, decant.ErrSummary)
	}
	return s, nil
}

// attainable returns the share of the facts' weight that fits into a quarter of the budget, 0 when the
// facts weigh too little to judge by.
func attainable(facts []decant.Fact, l Limits) float64 {
	total, fits, cost := 0.0, 0.0, 0
	for _, f := range facts {
		total += f.Weight
		if l.Budget > 0 {
			cost += l.Counter.Count(f.Text) + 1
		}
		if cost <= l.Budget/4 {
			fits += f.Weight
		}
	}
	if total < 1 {
		return 0
	}
	return fits / total
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
	for _, p := range [...]string{"api error", "error:", "i'm sorry", "i am sorry", "i cannot", "i can't", "request timed out", "{\"error\"", "{\"type\":\"error\""} {
		if strings.HasPrefix(low, p) {
			return "an error message"
		}
	}
	return ""
}

// Verify says which of the facts text keeps.
func Verify(facts []decant.Fact, text string) fact.Result { return fact.Check(facts, text) }

// Repair returns text with the missing facts appended, the most important of each kind first, in at
// most a quarter of the tokens of text and within the budget of l. The kinds take turns, so that none
// keeps another out. It returns text itself when nothing fits.
func Repair(text string, missing []decant.Fact, l Limits) string {
	if l.Counter == nil {
		l.Counter = classes{}
	}
	size := l.Counter.Count(text)
	room := size / 4
	if l.Budget > 0 {
		room = min(room, l.Budget-size)
	}
	limit := size + room
	for room > 0 {
		out := repair(text, missing, room, l.Counter)
		over := l.Counter.Count(out) - limit
		if over <= 0 {
			return out
		}
		room -= over // the parts count less than the whole
	}
	return text
}

// repair appends facts that count room tokens one by one.
func repair(text string, missing []decant.Fact, room int, c decant.Counter) string {
	kinds, queue := byKind(missing)
	chosen := map[decant.FactKind][]string{}
	spent := c.Count(repairHead)
	for more := true; more; {
		more = false
		for _, k := range kinds {
			if len(queue[k]) == 0 {
				continue
			}
			f := queue[k][0]
			queue[k] = queue[k][1:]
			more = true
			cost := c.Count("; " + f.Text)
			if len(chosen[k]) == 0 {
				cost += c.Count("\n" + string(k) + ":")
			}
			if spent+cost <= room {
				spent += cost
				chosen[k] = append(chosen[k], f.Text)
			}
		}
	}
	if len(chosen) == 0 {
		return text
	}
	return appendFacts(text, kinds, chosen)
}

// alsoHeading is the heading of what a repair appends.
const alsoHeading = "Also"

const repairHead = "\n# " + alsoHeading

func appendFacts(text string, kinds []decant.FactKind, chosen map[decant.FactKind][]string) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(text, "\n") + repairHead)
	for _, k := range kinds {
		if len(chosen[k]) > 0 {
			b.WriteString("\n" + string(k) + ": " + strings.Join(chosen[k], "; "))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// byKind returns the kinds of facts in the order of their first fact, and the facts of each.
func byKind(facts []decant.Fact) ([]decant.FactKind, map[decant.FactKind][]decant.Fact) {
	var kinds []decant.FactKind
	queue := map[decant.FactKind][]decant.Fact{}
	for _, f := range facts {
		if queue[f.Kind] == nil {
			kinds = append(kinds, f.Kind)
		}
		queue[f.Kind] = append(queue[f.Kind], f)
	}
	return kinds, queue
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
