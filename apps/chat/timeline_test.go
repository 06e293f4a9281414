package chat

import (
	stdjson "encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
)

// A turn in which somebody delegates leaves T0 to T7, also one that goes on with calls that were asked for before; others
// leave nothing. What a model writes cannot command the terminal.
func TestTimeline(t *testing.T) {
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	var out strings.Builder
	l := newTimeline(&Options{Team: &team.File{}, Notices: &out, Now: func() time.Time { at = at.Add(100 * time.Millisecond); return at }})
	call := agent.Event{Kind: agent.EventCall, Call: &agent.Call{Tool: team.DelegateTool, Arguments: stdjson.RawMessage(`{"to":"leo","task":"Look\u001b[2J."}`)}}
	answer := agent.Event{Kind: agent.EventMessage, Size: 9000, Window: 200_000}
	done := agent.Event{Kind: agent.EventDone, Outcome: &agent.Outcome{Stop: agent.StopAnswered}}
	for _, e := range []agent.Event{{Kind: agent.EventUser, Text: "Hello."}, answer, done} {
		l.note(&e)
	}
	if out.Len() > 0 {
		t.Errorf("a turn in which nobody delegates leaves %q", out.String())
	}
	pour := agent.Event{Kind: agent.EventPour, Pour: &agent.Pour{Before: 85_000, After: 9000}}
	for _, e := range []agent.Event{{Kind: agent.EventUser, Text: "Ask leo."}, pour, answer, call} {
		l.note(&e)
	}
	d := team.Delegation{ID: "d-1", To: "leo", Snapshot: strings.Repeat("a", 64), Projection: strings.Repeat("b", 64)}
	l.heard(d, agent.Event{Kind: agent.EventPour, Pour: &agent.Pour{Before: 9000, After: 4000}})
	l.heard(d, done)
	l.note(&done)
	l.note(&call)
	l.note(&done)
	want := `  T0   +0.0s  said: Ask leo.
  T1          checked: ~85,000 tokens in a window of 200,000
  T2          poured: ~85,000 tokens became ~9,000
  T3          sealed: these ~9,000 tokens are what all delegates begin with
  T4   +0.1s  the agent has answered
  T5   +0.2s  delegates to leo: Look␛[2J.
  T6   +0.3s  leo (d-1) begins with projection bbbbbbbbbbbb of snapshot aaaaaaaaaaaa
  T6   +0.4s  leo pours, on its own branch: ~9,000 tokens became ~4,000
  T6   +0.5s  leo: answered; 0 turns, 0 tokens, $0.0000
  T7   +0.6s  the agent has put it together: answered
  T5   +0.1s  delegates to leo: Look␛[2J.
  T7   +0.2s  the agent has put it together: answered
`
	if out.String() != want {
		t.Errorf("the lines are\n%s\nwant\n%s", out.String(), want)
	}
	(*timeline)(nil).note(&call) // without a team
}
