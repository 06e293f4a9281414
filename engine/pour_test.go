package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// A pour that somebody asks for is written by the summariser, which is told the focus and the preset's instructions as text;
// the plan is data until it is applied, and the next request has it.
func TestPourWithAFocus(t *testing.T) {
	var told provider.SummaryInput
	w := &writer{write: func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
		told = in
		return good(ctx, in)
	}}
	set := *policyOf(t, "orchestrator")
	k := newDialogue(t, engine.Options{Window: 13_000, Preset: &set, Models: engine.Models{Summarizer: w}, NoEarlyPours: true})
	k.user("Do the work.")
	for n := 1; n <= 10; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
		k.mustSend()
	}
	if w.calls.Load() > 0 {
		t.Fatal("it was poured before")
	}
	key := store.Key{ID: k.last.Conversation}
	before := len(k.state().Decisions)
	c, err := k.engine.Pour(t.Context(), key, "the failing tests")
	if err != nil {
		t.Fatal(err)
	}
	if told.Focus != "the failing tests" || told.Instructions != set.Summary.Instructions || told.Conversation != key {
		t.Errorf("it was told the focus %q, the instructions %q, of %v", told.Focus, told.Instructions, told.Conversation)
	}
	cp := decant.CheckpointIn(c.Plan.Decisions)
	if cp == nil || cp.Rung != decant.RungModel || len(k.state().Decisions) != before {
		t.Fatalf("checkpoint %+v; %d decisions were stored, %d before", cp, len(k.state().Decisions), before)
	}
	if err := k.engine.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	k.round(11, "done")
	k.mustSend()
	if n := len(k.last.View().Messages); n >= len(k.ms) || w.calls.Load() != 1 {
		t.Errorf("%d of %d messages were sent, the summariser was asked %d times", n, len(k.ms), w.calls.Load())
	}
}

// A conversation on hold is not poured until it is released.
func TestPause(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: policyOf(t, "orchestrator"), NoEarlyPours: true})
	k.user("Do the work.")
	k.round(1, "one")
	k.mustSend()
	key := store.Key{ID: k.last.Conversation}
	change(t, k, func(ctx context.Context, key store.Key) (*engine.Change, error) { return k.engine.Pause(ctx, key) })
	if !k.state().Head.Hold {
		t.Fatal("it is not on hold")
	}
	if _, err := k.engine.Pause(t.Context(), key); !errors.Is(err, decant.ErrNothing) {
		t.Errorf("a second pause: %v", err)
	}
	change(t, k, func(ctx context.Context, key store.Key) (*engine.Change, error) { return k.engine.Release(ctx, key) })
	if k.state().Head.Hold {
		t.Error("it is still on hold")
	}
}

// change makes a change to a dialogue's conversation.
func change(t *testing.T, k *dialogue, plan func(context.Context, store.Key) (*engine.Change, error)) {
	t.Helper()
	c, err := plan(t.Context(), store.Key{ID: k.last.Conversation})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.engine.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}
