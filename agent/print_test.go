package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/decantdev/decant/testing/agenttest"
)

// A run is printed as somebody reads it, and what a model says cannot command the terminal.
func TestPrint(t *testing.T) {
	model := agenttest.New(t,
		agenttest.Turn{Text: "I look.", Calls: []agenttest.Call{{Tool: "look", Arguments: `{}`}}},
		agenttest.Turn{Text: "There is a \x1b[2Jcat."},
	)
	look := Tool{Name: "look", ReadOnly: true, Run: func(context.Context, *Call) (Result, error) {
		return Result{Text: "a cat"}, nil
	}}
	a, err := New(model, Options{Model: "claude-sonnet-4-5", Engine: agenttest.Engine(t), Tools: []Tool{look}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	o, err := Print(&out, a.Run(t.Context(), "What is there?"))
	if err != nil || o.Stop != StopAnswered {
		t.Fatalf("%+v, %v", o, err)
	}
	if want := "I look.\n[look {}]\nThere is a \ufffd[2Jcat.\n(answered; turns: 2, tokens: "; !strings.HasPrefix(out.String(), want) {
		t.Errorf("printed %q, want it to begin with %q", out.String(), want)
	}
}

// Who cannot write what is printed is told so, once the run has ended.
func TestPrintFails(t *testing.T) {
	model := agenttest.New(t, agenttest.Turn{Text: "Here."})
	a, err := New(model, Options{Model: "claude-sonnet-4-5", Engine: agenttest.Engine(t)})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	o, err := Print(failing{full}, a.Run(t.Context(), "Where?"))
	if !errors.Is(err, full) || o.Text != "Here." {
		t.Errorf("%+v, %v", o, err)
	}
}

// failing is a writer that always fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
