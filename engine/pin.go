package engine

import (
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Pin returns the change that keeps blocks verbatim in every later view, or with on false no longer.
// A block that was replaced before comes back. It returns an error that wraps decant.ErrNothing when refs is empty.
func (e *Engine) Pin(ctx context.Context, k store.Key, refs []decant.Ref, on bool) (*Change, error) {
	if len(refs) == 0 {
		return nil, fmt.Errorf("pin nothing of %s: %w", k.ID, decant.ErrNothing)
	}
	r, err := e.reopen(ctx, k, "")
	if err != nil {
		return nil, err
	}
	ds, err := r.pins(refs, on)
	if err != nil {
		return nil, fmt.Errorf("pin blocks of %s: %w", k.ID, err)
	}
	if err := r.revise(ds); err != nil {
		return nil, err
	}
	return r.change(ds[0].Reason, r.Match.State.Head.Hold), nil
}

// pins returns the decisions that pin blocks and bring them back, or with on false those that unpin them.
func (r *revision) pins(refs []decant.Ref, on bool) (ds []decant.Decision, err error) {
	kind, reason := decant.Pin, "pinned"
	if !on {
		kind, reason = decant.Unpin, "no longer pinned"
	}
	for _, ref := range refs {
		b := r.Conv.Block(ref)
		if b == nil {
			return nil, fmt.Errorf("block %d of m%d: %w", ref.Block, ref.Message, store.ErrNotFound)
		}
		ds = append(ds, decant.Decision{Kind: kind, Reason: reason, Target: decant.TargetOf(b), Handle: decant.HandleOf(b.Hash())})
	}
	if !on {
		return ds, nil
	}
	back, err := r.bringBack(refs)
	return append(ds, back...), err
}

// bringBack returns the decisions that make blocks verbatim again; none when they are, or when a
// checkpoint covers them. Thinking that is bound to the view without them goes.
func (r *revision) bringBack(refs []decant.Ref) (ds []decant.Decision, err error) {
	pinned := make(map[decant.Ref]bool, len(refs))
	for _, ref := range refs {
		pinned[ref] = true
	}
	for _, d := range decant.InForce(r.Match.State.Decisions) {
		if d.Kind.Edits() && d.Kind != decant.Native && pinned[d.Target.Ref] { // what is cleared by age comes back in a text, with the next request
			ds = append(ds, decant.Decision{Kind: decant.Revoke, Revokes: d.ID, Reason: "the block is pinned"})
		}
	}
	switch {
	case len(ds) == 0 || !r.Bound():
		return ds, nil
	case r.Conv.OpenRound():
		return nil, fmt.Errorf("a round is open and thinking is bound: try again when the agent is done: %w", decant.ErrIllegal)
	}
	return append(ds, r.AllThinking()...), nil
}
