package plan

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// coverRoute makes a checkpoint for money. At a cold moment it must cost less for each fact than the cheap reductions,
// which come next.
func coverRoute(ctx context.Context, p *Pour, _ int) error {
	in := p.Draft.Input
	proposal, ds, err := p.plan(ctx, p.room(in.Fixed+p.earlyTarget()))
	if err != nil {
		return err
	}
	if p.money.Cold() {
		next := p.copy()
		if err := next.Draft.Add(policy.PlanEarly(ctx, live(p.Draft.View), p.thinning())); err != nil {
			return err
		}
		if !proposal.Beats(ctx, next.Draft.View, in.Fixed) {
			return errPoor
		}
		ds = p.settle(proposal.Plan.Decisions)
	}
	if len(ds) == 0 {
		return errPoor
	}
	p.proposal, p.Draft.Outcome.Plan = proposal, proposal.Plan
	return p.forgetting(ds)
}

// forgetting adds decisions, and where thinking is bound to what they change, those that drop it.
func (p *Pour) forgetting(ds []decant.Decision) error {
	bound := p.Draft.Bound()
	if err := p.Draft.Add(ds); err != nil || !bound {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking())
}

// probeRoute makes the cheap reductions and keeps all thinking.
func probeRoute(ctx context.Context, p *Pour, _ int) error {
	t := p.thinning()
	t.Signed = true
	ds := policy.PlanEarly(ctx, live(p.Draft.View), t)
	if len(ds) == 0 {
		return errPoor
	}
	return p.Draft.Add(ds)
}

// earlyDropRoute is earlyRoute for bound thinking in an open round: the provider drops it.
func earlyDropRoute(ctx context.Context, p *Pour, target int) error {
	if !p.Draft.LetDrop() {
		return errNoRoute
	}
	return probeRoute(ctx, p, target)
}

// earlyRoute makes the cheap reductions and no checkpoint.
func earlyRoute(ctx context.Context, p *Pour, _ int) error {
	ds := policy.PlanEarly(ctx, live(p.Draft.View), p.thinning())
	if len(ds) == 0 {
		return errPoor
	}
	return p.forgetting(ds)
}
