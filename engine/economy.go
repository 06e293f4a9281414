package engine

import (
	"context"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/token"
)

// economy returns what the schedule has to know of money. What the provider does not keep is paid in full
// each time, so removing something from it costs nothing.
func (dr *draft) economy() policy.Economy {
	if dr.q.e.opts.NoEarlyPours && !dr.q.pressed || !dr.q.preset.Thrift.On() || dr.q.match.State == nil || dr.q.match.Relation != lineage.Continues || dr.early() == notEarly || dr.futile() {
		return policy.Economy{}
	}
	e := policy.Economy{Early: true, Switched: dr.q.switched() && dr.meter.Belief.Moves(), Idle: dr.idle()}
	r := cost.ReachOf(dr.view, e.Idle, dr.meter.Belief)
	e.Lifetime = r.Life
	e.Write, e.Read = dr.rates(r)
	e.Read = dr.meter.Doubt.Read(e.Read, e.Write)
	dr.cold = e.Cold()
	t := dr.thinning()
	if !dr.cold {
		t.Beyond = r.Beyond
	}
	plain, _ := dr.rates(cost.Reach{})
	free, _ := cost.FreeMarkers(dr.q.refs.Conv)
	e = e.Weigh(policy.MeasureEarly(dr.view, t), dr.q.fixed, plain, free > 0)
	e.Patience = dr.q.preset.Thrift.Settled().Patience
	return e
}

// idle returns the time since the request before was made. Cache entries live from there on.
func (dr *draft) idle() time.Duration {
	before := dr.meter.Client.At
	if before.IsZero() && dr.q.match.State != nil {
		before = dr.q.match.State.Anchor.Time
	}
	if before.IsZero() {
		return 0
	}
	return dr.q.begun.Sub(before)
}

// switched reports whether the model or the fixed part is another one than in the request before, so
// that nothing of the cache can be used, as far as a request tells.
func (q *query) switched() bool {
	if q.match.State == nil || q.match.State.Head.Model == "" {
		return false
	}
	h := &q.match.State.Head
	return h.Fixed != q.refs.Conv.Fixed.Version || h.Model != q.refs.Conv.Model && q.e.model(h.Model, 0, nil).ID != q.model.ID
}

// rates returns the prices of writing and of reading what is within Reach, in dollars per million tokens.
// Without a cache both are the price of input; where prices are not known, the usual proportions count.
func (dr *draft) rates(within cost.Reach) (write, read float64) {
	r := token.Rates{Input: token.Rate{USD: 1, Known: true}, CacheRead: token.Rate{USD: 0.1, Known: true},
		Write5m: token.Rate{USD: 1.25, Known: true}, Write1h: token.Rate{USD: 2, Known: true}}
	if p, _, ok := dr.q.model.PriceAt(dr.q.e.opts.Now()); ok {
		r = p.At(dr.report.Before)
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

// thinning returns what an early pour works on.
func (dr *draft) thinning() policy.EarlyPour {
	t := policy.EarlyPour{Preset: dr.q.preset, Counter: dr.q.est, Transcript: dr.q.refs.Conv, Pinned: decant.PinsIn(dr.inForce), Cold: dr.cold}
	t.Made = append(append(t.Made, dr.inForce...), dr.made...)
	m := dr.early()
	t.Signed, t.Native = m != byEditing, m == byClearing
	return t
}

// earlyRoute makes the cheap reductions and no checkpoint.
func earlyRoute(ctx context.Context, dr *draft, _ int) error {
	ds := policy.PlanEarly(ctx, dr.view, dr.thinning())
	if len(ds) == 0 {
		return errPoor
	}
	bound := dr.bound()
	if err := dr.add(ds); err != nil || !bound {
		return err
	}
	return dr.add(dr.allThinking())
}
