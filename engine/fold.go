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
func foldRoute(ctx context.Context, p *pouring, target int) error {
	made, view := p.dr.made, p.dr.view
	if _, ds, err := p.plan(ctx, target); err == nil { // what the fold is made of; it covers all of it
		if err := p.dr.add(ds); err != nil {
			return err
		}
	}
	d, ok := policy.Fold(policy.Folding{
		Transcript: p.dr.q.refs.Conv, View: p.dr.view, Made: slices.Concat(p.dr.inForce, p.dr.made), Proved: decant.CheckpointIn(p.dr.made),
		Estimator: p.dr.q.est, Preset: p.dr.q.preset, Pinned: decant.PinsIn(p.dr.inForce), Target: target, Why: p.whyFold(),
	})
	p.dr.made, p.dr.view = made, view
	if !ok {
		return errNoRoute
	}
	if err := p.dr.add(p.settle([]decant.Decision{d})); err != nil || len(d.Checkpoint.Kept) == 0 || !p.dr.q.model.Binds {
		return err
	}
	return p.dr.add(p.dr.allThinking()) // of the rounds that stay: what stood before it is gone
}

// whyFold says for people why nothing else than a fold would do.
func (p *pouring) whyFold() string {
	size := fmt.Sprintf("%d tokens do not fit a window of %d with room for an answer", p.dr.outcome.Before, p.dr.q.limits.Window)
	switch open := p.dr.q.refs.Conv.OpenRound(); {
	case p.dr.q.demand.reason == policy.Refusal && open:
		return "the provider refused the thinking, and a round is open"
	case p.dr.q.demand.reason == policy.Refusal:
		return "the provider refused the thinking"
	case p.dr.q.demand.reason == policy.Overflow:
		return "the provider refused the request for its size, and no other form was small enough"
	case p.dr.bytes() > p.dr.q.most:
		return fmt.Sprintf("%d bytes are more than the API takes", p.dr.bytes())
	case open && p.dr.bound():
		return size + "; a round is open, and its thinking is bound to what stands before it"
	}
	return size + ", and no other form was small enough"
}
