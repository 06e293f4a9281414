package pour

import (
	"context"

	"github.com/decantdev/decant/policy"
)

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
	bound := p.Draft.Bound()
	if err := p.Draft.Add(ds); err != nil || !bound {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking())
}
