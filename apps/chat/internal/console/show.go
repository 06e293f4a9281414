package console

import (
	"fmt"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/humanize"
)

// What stands before what is typed.
const (
	idle     = "> "
	busy     = "... > "
	question = "y, n or a > "
)

const (
	mostShown  = 5   // lines of a result
	mostLine   = 160 // characters of a call
	mostChange = 200 // lines of a change that nobody is asked about
)

// greet says what there is.
func (t *talk) greet() {
	m := t.chat.Meter()
	t.screen.line("decant chat with %s. /help lists what you can do; Esc interrupts, Ctrl-D ends.", m.Model)
	for _, d := range t.o.Project.Instructions {
		t.screen.line("Instructions: %s", d.Name)
	}
	t.term.prompt(idle)
	s := t.chat.Session()
	if turns := s.Turns(); len(turns) > 0 {
		t.screen.line("Session %s goes on; you said last: %s", s.ID(), clip(turns[len(turns)-1].Text, mostLine))
	}
	if s.Interrupted() {
		t.screen.line("Its last run was interrupted: /continue goes on with it.")
	}
	if ws := s.Waiting(); len(ws) > 0 {
		t.ask(&ws[0])
	}
}

// show shows an event.
func (t *talk) show(e *agent.Event, err error) {
	switch e.Kind {
	case agent.EventText:
		t.screen.say(e.Text)
	case agent.EventMessage:
		t.screen.end()
	case agent.EventUser:
		t.heard(e.Text)
	case agent.EventCall:
		t.call(e.Call)
	case agent.EventProgress:
		t.screen.line("  %s", e.Text)
	case agent.EventResult:
		t.result(e.Call, e.Text)
	case agent.EventPour:
		t.pour(e.Pour)
	case agent.EventStatus:
		t.screen.line("(%s)", e.Text)
	case agent.EventWarning:
		t.screen.line("note: %s", e.Text)
	case agent.EventDone:
		t.done(e.Outcome, err)
	}
}

// heard says that the model reads what was said to its run.
func (t *talk) heard(text string) {
	for i, q := range t.queued {
		if q == text {
			t.queued = append(t.queued[:i:i], t.queued[i+1:]...)
			t.screen.line("(read now: %s)", clip(text, 60))
			return
		}
	}
}

// call shows a call that is about to be made, and what it changes if nobody was asked about it.
func (t *talk) call(c *agent.Call) {
	t.screen.line("[%s] %s", c.Tool, clip(string(c.Arguments), mostLine))
	if c.Preview != "" && !t.asked[c.ID] {
		t.change(c.Preview, mostChange)
	}
}

// change shows what a call changes, in so many lines at most.
func (t *talk) change(preview string, most int) {
	lines := strings.Split(strings.TrimRight(preview, "\n"), "\n")
	for i, l := range lines {
		if i == most {
			t.screen.line("  (%d more lines)", len(lines)-i)
			break
		}
		t.screen.line("  %s", l)
	}
}

// result shows the beginning of what a call has returned.
func (t *talk) result(c *agent.Call, text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if c.Error {
		t.screen.line("  failed:")
	}
	for i, l := range lines {
		if i == mostShown {
			t.screen.line("  (%d more lines)", len(lines)-i)
			break
		}
		t.screen.line("  %s", clip(l, mostLine))
	}
}

// pour says what was poured, and how to take it back.
func (t *talk) pour(p *agent.Pour) {
	t.screen.line("poured: %s tokens became %s; /compact undo takes it back", humanize.Thousands(p.Before), humanize.Thousands(p.After))
}

// done says how a run ended, where it is not by an answer.
func (t *talk) done(o *agent.Outcome, err error) {
	t.screen.end()
	switch {
	case o.Stop == agent.StopCancelled, o.Stop == agent.StopApproval, o.Stop == agent.StopAnswered && err == nil:
	case err != nil:
		t.screen.line("failed: %v", err)
	case o.Stop == agent.StopRefused:
		t.screen.line("the model refuses to answer")
	case o.Stop == agent.StopLength:
		t.screen.line("the answer is longer than it may be, and was cut")
	default:
		t.screen.line("the limit of this run (%s) is reached; say something to go on", o.Stop)
	}
}

// status shows which model answers, how full its window is, and what the session has cost.
func (t *talk) status() {
	m := t.chat.Meter()
	parts := []string{m.Model}
	if m.Window > 0 {
		parts = append(parts, fmt.Sprintf("%s %.0f%% of %s tokens", chat.Bar(m.Size, m.Window, 10), 100*float64(m.Size)/float64(m.Window), humanize.Thousands(m.Window)))
	}
	parts = append(parts, fmt.Sprintf("$%.4f", m.Spent.Money.USD()))
	t.screen.line("(%s)", strings.Join(parts, " | "))
}

// clip returns a text on one line of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
