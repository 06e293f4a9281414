package chat

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/secret"
)

// A timeline writes what happens when in a turn in which an agent delegates, in lines: the
// context is checked and poured before anything is delegated, and then all begin with the same. A turn in which nobody delegates
// leaves no lines. A nil timeline writes nothing.
type timeline struct {
	to  io.Writer
	now func() time.Time

	mu     sync.Mutex
	start  time.Time // of the turn
	user   string    // what was said
	asked  time.Time // when the model has answered last
	size   int       // of the request that it has answered
	window int
	pour   *agent.Pour     // since the last round of delegations
	open   bool            // the newest answer has delegated, and that was told
	told   bool            // somebody has delegated in this turn
	begun  map[string]bool // delegations of which it was told with what they begin, by their ids
}

// digits are how many of a hash are shown, as in the ledger of a team.
const digits = 12

// newTimeline returns the timeline of a chat, nil where nobody delegates or reads it.
func newTimeline(o *Options) *timeline {
	if o.Team == nil || o.Notices == nil {
		return nil
	}
	return &timeline{to: o.Notices, now: o.Now, begun: map[string]bool{}}
}

// line writes a line, with the time since the turn has begun unless that is not known.
func (t *timeline) line(moment string, at time.Time, format string, args ...any) {
	when := ""
	if !at.IsZero() {
		when = fmt.Sprintf("+%.1fs", at.Sub(t.start).Seconds())
	}
	text := fmt.Sprintf("  %s %7s  %s", moment, when, fmt.Sprintf(format, args...))
	fmt.Fprintln(t.to, report.Visible(secret.Mask(text))) // nobody can be told that this failed
}

// note takes an event of the agent that delegates.
func (t *timeline) note(e *agent.Event) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case agent.EventUser:
		if t.start.IsZero() {
			t.start, t.user = t.now(), e.Text
		}
	case agent.EventPour:
		t.pour = e.Pour
	case agent.EventMessage:
		t.asked, t.size, t.window, t.open = t.now(), e.Size, e.Window, false
	case agent.EventCall:
		t.call(e.Call)
	case agent.EventDone:
		t.done(e.Outcome)
	}
}

// call tells of a call that delegates, and before the first one of an answer what came before it.
func (t *timeline) call(c *agent.Call) {
	var o struct {
		To   string `json:"to"`
		Task string `json:"task"`
	}
	if c.Tool != team.DelegateTool || json.Unmarshal(c.Arguments, &o) != nil || o.To == "" {
		return
	}
	if t.start.IsZero() {
		t.start = t.now() // it goes on with calls that were asked for before
	}
	if !t.open && !t.asked.IsZero() {
		t.before()
	}
	t.open, t.told = true, true
	t.line("T5", t.now(), "delegates to %s: %s", o.To, oneLine(o.Task))
}

// before tells what came before the calls of an answer.
func (t *timeline) before() {
	if t.user != "" {
		t.line("T0", t.start, "said: %s", oneLine(t.user))
		t.user = ""
	}
	checked := t.size
	if t.pour != nil {
		checked = t.pour.Before
	}
	t.line("T1", time.Time{}, "checked: ~%s in a window of %s", report.Count(checked, "token"), report.Thousands(t.window))
	if p := t.pour; p != nil {
		t.line("T2", time.Time{}, "poured: ~%s became ~%s", report.Count(p.Before, "token"), report.Thousands(p.After))
	} else {
		t.line("T2", time.Time{}, "nothing to pour")
	}
	t.line("T3", time.Time{}, "sealed: these ~%s are what all delegates begin with", report.Count(t.size, "token"))
	t.line("T4", t.asked, "the agent has answered")
	t.pour = nil
}

// heard takes an event of a delegate. Several may come at once.
func (t *timeline) heard(d team.Delegation, e agent.Event) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.start.IsZero() {
		return // the turn has ended
	}
	if d.Projection != "" && !t.begun[d.ID] {
		t.begun[d.ID] = true
		what := fmt.Sprintf("snapshot %.*s", digits, d.Snapshot)
		if d.Projection != d.Snapshot {
			what = fmt.Sprintf("projection %.*s of snapshot %.*s", digits, d.Projection, digits, d.Snapshot)
		}
		t.line("T6", t.now(), "%s (%s) begins with %s", d.To, d.ID, what)
	}
	switch e.Kind {
	case agent.EventPour:
		t.line("T6", t.now(), "%s pours, on its own branch: ~%s became ~%s", d.To, report.Count(e.Pour.Before, "token"), report.Thousands(e.Pour.After))
	case agent.EventDone:
		s := &e.Outcome.Spent
		t.line("T6", t.now(), "%s: %s; %s, %s, $%.4f", d.To, e.Outcome.Stop, report.Count(s.Turns, "turn"), report.Count(s.Tokens(), "token"), s.Money.USD())
	}
}

// done tells how a turn ended in which somebody has delegated.
func (t *timeline) done(o *agent.Outcome) {
	if t.told {
		t.line("T7", t.now(), "the agent has put it together: %s", o.Stop)
	}
	t.start, t.asked, t.user, t.pour, t.open, t.told = time.Time{}, time.Time{}, "", nil, false, false
	clear(t.begun)
}

// oneLine returns the beginning of a text on a line.
func oneLine(s string) string {
	const most = 80
	all := []rune(strings.Join(strings.Fields(s), " "))
	if len(all) <= most {
		return string(all)
	}
	return string(all[:most]) + "..."
}
