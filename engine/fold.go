package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// foldRoute makes the whole conversation one message of the user: pins, checkpoint and the recent
// rounds, the open one included, as text, so that no message of the assistant remains. That is legal
// in every state. What the user said last and nobody has answered stays a message of its own.
func (a *attempt) foldRoute(ctx context.Context, target int) error {
	made, view := a.made, a.view
	if _, ds, err := a.plan(ctx, target); err == nil { // what the fold is made of; it covers all of it
		if err := a.add(ds); err != nil {
			return err
		}
	}
	d, ok := policy.Fold(policy.Folding{
		Transcript: a.Conv, View: a.view, Made: slices.Concat(a.inForce, a.made), Proved: decant.CheckpointIn(a.made),
		Estimator: a.est, Preset: a.preset, Pinned: decant.PinsIn(a.inForce), Target: target, Why: a.whyFold(),
	})
	a.made, a.view = made, view
	if !ok {
		return errNoRoute
	}
	if err := a.add(a.settle([]decant.Decision{d})); err != nil || len(d.Checkpoint.Kept) == 0 || !a.model.Binds {
		return err
	}
	return a.add(a.allThinking()) // of the rounds that stay: what stood before it is gone
}

// whyFold says for people why nothing else than a fold would do.
func (a *attempt) whyFold() string {
	size := fmt.Sprintf("%d tokens do not fit a window of %d with room for an answer", a.report.Before, a.limits.Window)
	switch open := a.Conv.OpenRound(); {
	case a.must == policy.Refusal && open:
		return "the provider refused the thinking, and a round is open"
	case a.must == policy.Refusal:
		return "the provider refused the thinking"
	case a.must == policy.Overflow:
		return "the provider refused the request for its size, and no other form was small enough"
	case a.bytes() > a.most:
		return fmt.Sprintf("%d bytes are more than the API takes", a.bytes())
	case open && a.bound():
		return size + "; a round is open, and its thinking is bound to what stands before it"
	}
	return size + ", and no other form was small enough"
}
