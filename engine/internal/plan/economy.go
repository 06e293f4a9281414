package plan

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// Economy returns what the schedule has to know of money. What the provider does not keep is paid in full
// each time, so removing something from it costs nothing.
func (p *Pour) Economy() policy.Economy {
	q := p.Draft.Query
	if q.Env.NoEarlyPours && !q.Pressed || !q.Preset.EarlyPours.On() || q.Match.State == nil || q.Match.Relation != match.Continues || p.early() == notEarly {
		return policy.Economy{}
	}
	e := policy.Economy{Early: true, Switched: q.Switched() && p.Draft.Meter.Belief.Moves(), Idle: p.Draft.Idle()}
	r := cost.ReachOf(live(p.Draft.View), e.Idle, p.Draft.Meter.Belief)
	e.Lifetime = r.Life
	e.Write, e.Read = rates(p.Draft, r)
	e.Read = p.Draft.Meter.Doubt.Read(e.Read, e.Write)
	e.Patience = q.Preset.EarlyPours.Settled().Patience
	e.Excess = policy.MeasureExcess(live(p.Draft.View), p.Draft.Outcome.Before-q.Fixed, p.earlyTarget())
	p.money = e
	t := p.thinning()
	if !e.Cold() {
		t.Beyond = r.Beyond
	}
	plain, _ := rates(p.Draft, cost.Reach{})
	free, _ := cost.FreeMarkers(q.Refs.Conv)
	e = e.Weigh(policy.MeasureEarly(live(p.Draft.View), t), q.Fixed, plain, free > 0)
	return e
}

// rates returns the prices of writing and of reading what is within Reach, in dollars per million tokens.
// Without a cache both are the price of input; where prices are not known, the usual proportions count.
func rates(dr *Draft, within cost.Reach) (write, read float64) {
	r := token.Rates{Input: token.Rate{USD: 1, Known: true}, CacheRead: token.Rate{USD: 0.1, Known: true},
		Write5m: token.Rate{USD: 1.25, Known: true}, Write1h: token.Rate{USD: 2, Known: true}}
	if price, _, ok := dr.Query.Model.PriceAt(dr.Query.Env.Now()); ok {
		r = price.At(dr.Outcome.Before)
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
func (p *Pour) thinning() policy.EarlyPour {
	q := p.Draft.Query
	t := policy.EarlyPour{Preset: q.Preset, Counter: q.Estimator, Transcript: q.Refs.Conv, Pinned: decant.PinsIn(p.Draft.InForce), Cold: p.money.Cold()}
	t.Made = append(append(t.Made, p.Draft.InForce...), p.Draft.Made...)
	m := p.early()
	t.Signed, t.Native = m != byEditing, m == byClearing
	return t
}

// terms returns what the outcome of an early pour depends on, besides the messages: the decisions of
// the conversation, those included that were taken back, the model, the fixed part and the policy.
func terms(dr *Draft) string {
	q := dr.Query
	text := fmt.Sprintf("%d %q %s %q %v", len(q.Match.State.Decisions), q.Refs.Conv.Model, q.Refs.Conv.Fixed.Version, q.Preset.Name, q.Preset.EarlyPours)
	return decant.HashBytes([]byte(text)).String()
}

// Waits reports whether an early pour has brought nothing to the conversation and nothing has changed
// since.
func (p *Pour) Waits() bool {
	return p.Draft.Meter.Futile.Waits(len(p.Draft.Query.Request.Body), func() string { return terms(p.Draft) })
}

// noteFutile remembers that an early pour brought nothing to the request.
func (p *Pour) noteFutile() {
	q := p.Draft.Query
	const bytesPerToken = 4 // as policy.MeasureEarly has it
	p.Draft.Meter.Futile = p.Draft.Meter.Futile.Again(terms(p.Draft), len(q.Request.Body), bytesPerToken*policy.MeasureEarly(live(p.Draft.View), p.thinning()).Whole)
	if q.Request.Count {
		return
	}
	CachedOf(q.Match.Stored).Change(func(m *Meter) { m.Futile = p.Draft.Meter.Futile })
}

// earlyTarget returns the tokens that the messages have after an early pour with a checkpoint, 0 where there is none: where
// a model writes the records, which nobody waits for in a pour for money, and where the route for bound thinking is another.
func (p *Pour) earlyTarget() int {
	q := p.Draft.Query
	if p.early() != byEditing || writes(p.Summarizer) || q.Preset.Native.Route == preset.RouteNative {
		return 0
	}
	return policy.EarlyTarget(q.Preset, q.Limits, q.Fixed, decant.CheckpointIn(p.Draft.InForce))
}

// writes reports whether a model writes the records of pours.
func writes(s policy.Summarizer) bool {
	_, same := s.(policy.Extractive)
	return s != nil && !same
}
