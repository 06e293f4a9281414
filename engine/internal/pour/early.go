package pour

import (
	"context"
	"fmt"

	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/policy"
)

// probes reports whether an early edit in front of bound thinking may be tried, to see whether the provider
// minds: nothing is known about the account yet, and the client has not asked for the binding. A probe that
// is refused costs the time of a refusal and nothing else: it is taken back, and the client's own bytes go
// out in the same exchange.
func (p *Pour) probes() bool {
	q := p.Draft.Query
	return p.Draft.Meter.Account != nil && q.Unfit() == dialect.UnfitUnsaid && q.Known.Says(account.Binding, q.Env.Now()) == ""
}

// probeRoute makes the cheap reductions and keeps all thinking.
func probeRoute(ctx context.Context, p *Pour, _ int) error {
	t := p.thinning()
	t.Signed = true
	ds := policy.PlanEarly(ctx, p.Draft.View, t)
	if len(ds) == 0 {
		return errPoor
	}
	return p.Draft.Add(ds)
}

// An earlyMode is how history may be poured for money.
type earlyMode uint8

const (
	notEarly   earlyMode = iota // there is no legal way
	byEditing                   // old results are edited, and old thinking goes
	byProbing                   // the same, but all thinking stays: whether that is legal is found out
	byClearing                  // the provider leaves old results out
	byDropping                  // old results are edited, and the provider drops thinking behind them
)

// early returns how the request may be poured for money.
func (p *Pour) early() earlyMode {
	switch {
	case !p.Draft.Bound() || !p.Draft.Query.Refs.Conv.OpenRound():
		return byEditing
	case p.probes():
		return byProbing
	case p.clears():
		return byClearing
	case p.Draft.Query.Env.DropBlock:
		return byDropping
	}
	return notEarly
}

// routes returns the routes of a mode.
func (m earlyMode) routes() []route {
	switch m {
	case byEditing:
		return []route{early}
	case byProbing:
		return []route{probing}
	case byClearing:
		return []route{native}
	case byDropping:
		return []route{letting}
	}
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

// earlyDropRoute is earlyRoute for bound thinking in an open round: the provider drops it.
func earlyDropRoute(ctx context.Context, p *Pour, target int) error {
	if !p.Draft.LetDrop() {
		return errNoRoute
	}
	return probeRoute(ctx, p, target)
}

// earlyRoute makes the cheap reductions and no checkpoint.
func earlyRoute(ctx context.Context, p *Pour, _ int) error {
	ds := policy.PlanEarly(ctx, p.Draft.View, p.thinning())
	if len(ds) == 0 {
		return errPoor
	}
	bound := p.Draft.Bound()
	if err := p.Draft.Add(ds); err != nil || !bound {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking())
}
