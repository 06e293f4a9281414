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
func foldRoute(ctx context.Context, dr *draft, target int) error {
	made, view := dr.made, dr.view
	if _, ds, err := dr.plan(ctx, target); err == nil { // what the fold is made of; it covers all of it
		if err := dr.add(ds); err != nil {
			return err
		}
	}
	d, ok := policy.Fold(policy.Folding{
		Transcript: dr.q.refs.Conv, View: dr.view, Made: slices.Concat(dr.inForce, dr.made), Proved: decant.CheckpointIn(dr.made),
		Estimator: dr.q.est, Preset: dr.q.preset, Pinned: decant.PinsIn(dr.inForce), Target: target, Why: dr.whyFold(),
	})
	dr.made, dr.view = made, view
	if !ok {
		return errNoRoute
	}
	if err := dr.add(dr.settle([]decant.Decision{d})); err != nil || len(d.Checkpoint.Kept) == 0 || !dr.q.model.Binds {
		return err
	}
	return dr.add(dr.allThinking()) // of the rounds that stay: what stood before it is gone
}

// whyFold says for people why nothing else than a fold would do.
func (dr *draft) whyFold() string {
	size := fmt.Sprintf("%d tokens do not fit a window of %d with room for an answer", dr.report.Before, dr.q.limits.Window)
	switch open := dr.q.refs.Conv.OpenRound(); {
	case dr.q.must == policy.Refusal && open:
		return "the provider refused the thinking, and a round is open"
	case dr.q.must == policy.Refusal:
		return "the provider refused the thinking"
	case dr.q.must == policy.Overflow:
		return "the provider refused the request for its size, and no other form was small enough"
	case dr.bytes() > dr.q.most:
		return fmt.Sprintf("%d bytes are more than the API takes", dr.bytes())
	case open && dr.bound():
		return size + "; a round is open, and its thinking is bound to what stands before it"
	}
	return size + ", and no other form was small enough"
}
