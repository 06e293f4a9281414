package engine

import (
	"context"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/token"
)

// economy returns what the schedule has to know of money. What the provider does not keep is paid in full
// each time, so removing ballast from it costs nothing.
func (a *attempt) economy() policy.Economy {
	if a.e.opts.NoEarlyPours && !a.pressed || !a.preset.Thrift.On() || a.State == nil || a.Relation != lineage.Continues || a.early() == notEarly || a.futile() {
		return policy.Economy{}
	}
	e := policy.Economy{Early: true, Switched: a.switched() && a.meter.Belief.Moves(), Idle: a.idle()}
	r := policy.ReachOf(a.view, e.Idle, a.meter.Belief)
	e.Lifetime = r.Life
	e.Write, e.Read = a.rates(r)
	e.Read = a.meter.Doubt.Read(e.Read, e.Write)
	a.cold = e.Cold()
	t := a.thinning()
	if !a.cold {
		t.Beyond = r.Beyond
	}
	plain, _ := a.rates(policy.Reach{})
	free, _ := policy.FreeMarkers(a.Conv)
	e = e.Weigh(policy.Spare(a.view, t), a.fixed, plain, free > 0)
	e.Patience = a.preset.Thrift.Settled().Patience
	return e
}

// idle returns the time since the request before was made. Cache entries live from there on.
func (a *attempt) idle() time.Duration {
	before := a.meter.Client.At
	if before.IsZero() && a.State != nil {
		before = a.State.Anchor.Time
	}
	if before.IsZero() {
		return 0
	}
	return a.begun.Sub(before)
}

// switched reports whether the model or the fixed part is another one than in the request before, so
// that nothing of the cache can be used, as far as a request tells.
func (a *attempt) switched() bool {
	if a.State == nil || a.State.Head.Model == "" {
		return false
	}
	h := &a.State.Head
	return h.Fixed != a.Conv.Fixed.Version || h.Model != a.Conv.Model && a.e.model(h.Model, 0, nil).ID != a.model.ID
}

// rates returns the prices of writing and of reading what is within Reach, in dollars per million tokens.
// Without a cache both are the price of input; where prices are not known, the usual proportions count.
func (a *attempt) rates(within policy.Reach) (write, read float64) {
	r := token.Rates{Input: token.Rate{USD: 1, Known: true}, CacheRead: token.Rate{USD: 0.1, Known: true},
		Write5m: token.Rate{USD: 1.25, Known: true}, Write1h: token.Rate{USD: 2, Known: true}}
	if p, _, ok := a.model.PriceAt(a.e.opts.Now()); ok {
		r = p.At(a.report.Before)
	}
	switch {
	case within.Life == 0:
		return r.Input.USD, r.Input.USD
	case within.Unasked:
		return r.Input.USD, r.CacheRead.USD
	case within.Hour:
		return r.Write1h.USD, r.CacheRead.USD
	}
	return r.Write5m.USD, r.CacheRead.USD
}

// thinning returns what a pour for money works on.
func (a *attempt) thinning() policy.Thinning {
	t := policy.Thinning{Preset: a.preset, Counter: a.est, Transcript: a.Conv, Pinned: decant.PinsIn(a.inForce), Cold: a.cold}
	t.Made = append(append(t.Made, a.inForce...), a.made...)
	m := a.early()
	t.Signed, t.Native = m != byEditing, m == byClearing
	return t
}

// earlyRoute makes the cheap reductions and no checkpoint.
func (a *attempt) earlyRoute(ctx context.Context, _ int) error {
	ds := policy.Thin(ctx, a.view, a.thinning())
	if len(ds) == 0 {
		return errPoor
	}
	bound := a.bound()
	if err := a.add(ds); err != nil || !bound {
		return err
	}
	return a.add(a.allThinking())
}
