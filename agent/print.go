package agent

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
)

// Print hears a run to its end and writes it as text: what the model says, as it comes, each call, what was poured, and how the run
// ended. Characters that could command a terminal are replaced. The outcome is that of the run, also beside an error.
func Print(w io.Writer, run iter.Seq2[Event, error]) (Outcome, error) {
	var fault error
	o, err := outcome(run, func(e Event) {
		if fault == nil {
			_, fault = io.WriteString(w, strings.Map(printable, e.line()))
		}
	})
	return o, errors.Join(err, fault)
}

// line returns an event as Print writes it, empty where it adds nothing.
func (e *Event) line() string {
	switch e.Kind {
	case EventText:
		return e.Text
	case EventMessage:
		return "\n"
	case EventCall:
		return fmt.Sprintf("[%s %s]\n", e.Call.Tool, e.Call.Arguments)
	case EventProgress:
		return fmt.Sprintf("[%s]\n", e.Text)
	case EventPour:
		return fmt.Sprintf("(%d tokens were poured into %d)\n", e.Pour.Before, e.Pour.After)
	case EventWarning, EventStatus:
		return fmt.Sprintf("(%s)\n", e.Text)
	case EventDone:
		s := &e.Outcome.Spent
		return fmt.Sprintf("(%s; turns: %d, tokens: %d, $%.4f)\n", e.Outcome.Stop, s.Turns, s.Tokens(), s.Money.USD())
	}
	return ""
}

// printable returns a character, and another one in place of what no reader should see.
func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
		return r
	}
	return unicode.ReplacementChar
}
