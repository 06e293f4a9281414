package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
)

func hello() decant.Message {
	return decant.Message{Role: decant.RoleUser, Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text("Hello.")}}}
}

// A thread gives a view or an error, never both: a store that fails is a fault in the report.
func TestAThreadGivesAViewOrAnError(t *testing.T) {
	broken := errors.New("broken")
	e, err := engine.New(store.Failed(broken), engine.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	th := e.Thread(engine.Request{}, &decant.Conversation{Model: "claude-sonnet-4-5", MaxOutput: 1000})
	th.Append(hello())
	view, report, err := th.View(t.Context())
	if err != nil || view == nil || !errors.Is(report.Fault, broken) {
		t.Fatalf("view %v, report %+v, error %v; want a view and the fault in the report", view, report, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if view, report, err = th.View(ended); (view == nil) != (err != nil) || (report == nil) != (err != nil) {
		t.Errorf("view %v, report %v, error %v", view, report, err)
	}
}

// What a view may cost is held back until it was answered, or given up.
func TestAThreadGivesBackWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDialogue(t, engine.Options{})
		k.start(engine.Options{Budgets: []budget.Budget{{Per: "tenant", Tokens: 1500}}, Timeouts: engine.Timeouts{Optional: time.Minute, Required: time.Minute}, Logger: slog.New(slog.DiscardHandler)})
		thread := func(session string) *engine.Thread {
			th := k.engine.Thread(engine.Request{Session: session}, &decant.Conversation{Model: "claude-sonnet-4-5", MaxOutput: 1000})
			th.Append(hello())
			return th
		}
		first, second := thread("a"), thread("b")
		for range 3 { // a view that is asked for again takes the place of the one before
			if _, _, err := first.View(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var over *budget.Error
		if _, _, err := second.View(t.Context()); !errors.As(err, &over) {
			t.Fatalf("beside another one: %v, want a *budget.Error", err)
		}
		first.Close()
		if _, _, err := second.View(t.Context()); err != nil {
			t.Fatalf("after the other was closed: %v", err)
		}
		second.Answered(decant.Usage{Input: 20, Output: 5})
		if _, _, err := first.View(t.Context()); err != nil {
			t.Fatalf("after the other was answered: %v", err)
		}
	})
}
