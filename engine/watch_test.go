package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/sandbox"
)

// An onlooker keeps what it is told.
type onlooker struct {
	mu    sync.Mutex
	pours []*engine.PourEvent
	warns []budget.Warning
}

func (o *onlooker) Poured(x *engine.PourEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pours = append(o.pours, x)
}

func (o *onlooker) Warned(w budget.Warning) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.warns = append(o.warns, w)
}

// Whoever watches an engine is told of each pour once, with its record.
func TestWatcherIsToldOfPours(t *testing.T) {
	o := &onlooker{}
	k := newDialogue(t, engine.Options{Preset: policyOf(t, "orchestrator"), Watcher: o})
	k.pour()
	if len(o.pours) != 1 {
		t.Fatalf("told of %d pours", len(o.pours))
	}
	x, r := o.pours[0], k.last.Report
	if x.Key.ID != k.last.Conversation || x.Reason != r.Reason || x.Before != r.Before || x.After != r.After || x.Err != nil || x.Preset.Name != "orchestrator" {
		t.Errorf("told of %+v, the report says %+v", x, r)
	}
	if x.Checkpoint == nil || x.Checkpoint.Summary == "" || x.Before <= x.Threshold {
		t.Errorf("told of the checkpoint %+v, at %d tokens of %d", x.Checkpoint, x.Before, x.Threshold)
	}
}

// That a model's summary failed is told with the pour, which is made all the same.
func TestWatcherIsToldOfAFailedSummary(t *testing.T) {
	o := &onlooker{}
	w := &writer{write: func(context.Context, provider.SummaryInput) (provider.Summary, error) {
		return provider.Summary{}, errors.New("the provider is overloaded")
	}}
	k := newDialogue(t, engine.Options{Preset: policyOf(t, "agent-loop"), Watcher: o, Models: engine.Models{Summarizer: w}})
	k.pour()
	if len(o.pours) != 1 || o.pours[0].Err == nil || !strings.Contains(o.pours[0].Err.Error(), "the provider is overloaded") {
		t.Fatalf("told of %+v", o.pours)
	}
	if x := o.pours[0]; x.Reason != policy.Necessary || x.Checkpoint == nil {
		t.Errorf("told of %+v", x)
	}
}

// A budget that is nearly spent is told once.
func TestWatcherIsToldOfBudgets(t *testing.T) {
	o := &onlooker{}
	k := newDialogue(t, engine.Options{Watcher: o, Budgets: []budget.Budget{{Per: "conversation", Tokens: 100_000}}})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
	k.user("Do the work.")
	for n := 1; n <= 60 && len(o.warns) == 0; n++ {
		k.round(n, output("call", 7))
		k.mustSend()
	}
	k.round(61, "done")
	k.mustSend()
	if len(o.warns) != 1 || o.warns[0].Share < 0.8 || o.warns[0].Conversation != k.last.Conversation {
		t.Errorf("told of %+v", o.warns)
	}
}
