package plan

import (
	"context"
	"fmt"
)

// editRoute changes old blocks and covers old messages; thinking that stays is not bound.
func editRoute(ctx context.Context, p *Pour, target int) error {
	if p.prepared != nil {
		p.proposal, p.Draft.Outcome.Plan = nil, p.prepared
		return p.Draft.Add(p.settle(p.prepared.Decisions))
	}
	proposal, ds, err := p.plan(ctx, target)
	if err != nil {
		return err
	}
	p.proposal, p.Draft.Outcome.Plan = proposal, proposal.Plan
	if len(ds) == 0 {
		return errPoor
	}
	return p.Draft.Add(ds)
}

// dropRoute is editRoute for bound thinking at a turn boundary: all of it goes.
func dropRoute(ctx context.Context, p *Pour, target int) error {
	if err := editRoute(ctx, p, target); err != nil {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking())
}

// thoughtsRoute drops all thinking and changes nothing else.
func thoughtsRoute(ctx context.Context, p *Pour, _ int) error {
	ds := p.Draft.AllThinking()
	if len(ds) == 0 {
		return errNoRoute
	}
	return p.Draft.Add(ds)
}

// unfittingRoute changes nothing; the provider drops the thinking that does not fit, in this request and in all that follow.
func unfittingRoute(_ context.Context, p *Pour, _ int) error {
	if !p.Draft.LetDrop() {
		return errNoRoute
	}
	p.Draft.Meter.Drops = true
	return nil
}

// dropBlockRoute is editRoute for bound thinking in an open round: the provider drops it.
func dropBlockRoute(ctx context.Context, p *Pour, target int) error {
	if !p.Draft.LetDrop() {
		return errNoRoute
	}
	if err := editRoute(ctx, p, target); err != nil {
		return fmt.Errorf("with drop_block: %w", err)
	}
	return nil
}
