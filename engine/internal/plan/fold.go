package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// turnFoldRoute makes the turn under way one message of the user and drops all other thinking: what was said before stays as
// it is. In a turn under way no thinking may be missing, so that one goes as a whole.
func turnFoldRoute(ctx context.Context, p *Pour, target int) error {
	if err := fold(ctx, p, target, policy.Turn); err != nil {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking())
}

// foldRoute makes the whole conversation one message of the user: pins, checkpoint and the recent
// rounds, the open one included, as text, so that no message of the assistant remains. That is legal
// in every state. What the user said last and nobody has answered stays a message of its own.
func foldRoute(ctx context.Context, p *Pour, target int) error {
	if p.Draft.Demand.Reason == policy.Refusal {
		return fold(ctx, p, target, policy.EveryAnswer)
	}
	return fold(ctx, p, target, policy.Everything)
}

// fold makes a fold of so much of the conversation.
func fold(ctx context.Context, p *Pour, target int, scope policy.Scope) error {
	made, view := p.Draft.Made, p.Draft.View
	if scope == policy.Everything {
		if _, ds, err := p.plan(ctx, target); err == nil { // what the fold is made of; it covers all of it
			if err := p.Draft.Add(ds); err != nil {
				return err
			}
		}
	}
	d, ok := policy.Fold(policy.Folding{
		Transcript: p.Draft.Conv, View: p.Draft.View, Made: slices.Concat(p.Draft.InForce, p.Draft.Made), Proved: decant.CheckpointIn(p.Draft.Made),
		Estimator: p.Draft.Estimator, Preset: p.Draft.Preset, Pinned: decant.PinsIn(p.Draft.InForce), Target: target, Why: whyFold(p.Draft), Refused: scope,
	})
	p.Draft.Made, p.Draft.View = made, view
	if !ok {
		return errNoRoute
	}
	if err := p.Draft.Add(p.settle([]decant.Decision{d})); err != nil || len(d.Checkpoint.Kept) == 0 || !p.Draft.Model.Binds {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking()) // of the rounds that stay: what stood before it is gone
}

// whyFold says for people why nothing else than a fold would do.
func whyFold(dr *Draft) string {
	in := dr.Input
	size := fmt.Sprintf("%d tokens do not fit a window of %d with room for an answer", dr.Outcome.Before, dr.Limits.Window)
	switch open := in.Conv.OpenRound(); {
	case in.Demand.Reason == policy.Refusal && open:
		return "the provider refused the thinking, and a round is open"
	case in.Demand.Reason == policy.Refusal:
		return "the provider refused the thinking"
	case in.Demand.Reason == policy.Overflow:
		return "the provider refused the request for its size, and no other form was small enough"
	case dr.Bytes() > in.MaxBytes:
		return fmt.Sprintf("%d bytes are more than the API takes", dr.Bytes())
	case open && dr.Bound():
		return size + "; a round is open, and its thinking is bound to what stands before it"
	}
	return size + ", and no other form was small enough"
}
