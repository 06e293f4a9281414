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
	in := p.Draft.Input
	if in.NoEarlyPours && !p.Draft.Pressed || !p.Draft.Preset.EarlyPours.On() || in.Match.State == nil || in.Match.Relation != match.Continues || p.early() == notEarly {
		return policy.Economy{}
	}
	e := policy.Economy{Early: true, Switched: in.Switched() && p.Draft.Meter.Belief.Moves(), Idle: p.Draft.Idle()}
	r := cost.ReachOf(live(p.Draft.View), e.Idle, p.Draft.Meter.Belief)
	e.Lifetime = r.Life
	e.Write, e.Read = rates(p.Draft, r)
	e.Read = p.Draft.Meter.Doubt.Read(e.Read, e.Write)
	e.Patience = p.Draft.Preset.EarlyPours.Settled().Patience
	e.Excess = policy.MeasureExcess(live(p.Draft.View), p.Draft.Outcome.Before-in.Fixed, p.earlyTarget())
	p.money = e
	t := p.thinning()
	if !e.Cold() {
		t.Beyond = r.Beyond
	}
	plain, _ := rates(p.Draft, cost.Reach{})
	free, _ := cost.FreeMarkers(in.Conv)
	e = e.Weigh(policy.MeasureEarly(live(p.Draft.View), t), in.Fixed, plain, free > 0)
	return e
}

// rates returns the prices of writing and of reading what is within Reach, in dollars per million tokens.
// Without a cache both are the price of input; where prices are not known, the usual proportions count.
func rates(dr *Draft, within cost.Reach) (write, read float64) {
	r := token.Rates{Input: token.Rate{USD: 1, Known: true}, CacheRead: token.Rate{USD: 0.1, Known: true},
		Write5m: token.Rate{USD: 1.25, Known: true}, Write1h: token.Rate{USD: 2, Known: true}}
	if price, _, ok := dr.Model.PriceAt(dr.Now()); ok {
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
	in := p.Draft.Input
	t := policy.EarlyPour{Preset: p.Draft.Preset, Counter: in.Estimator, Transcript: in.Conv, Pinned: decant.PinsIn(p.Draft.InForce), Cold: p.money.Cold()}
	t.Made = append(append(t.Made, p.Draft.InForce...), p.Draft.Made...)
	m := p.early()
	t.Signed, t.Native = m != byEditing, m == byClearing
	return t
}

// terms returns what the outcome of an early pour depends on, besides the messages: the decisions of
// the conversation, those included that were taken back, the model, the fixed part and the policy.
func terms(dr *Draft) string {
	in := dr.Input
	text := fmt.Sprintf("%d %q %s %q %v", len(in.Match.State.Decisions), in.Conv.Model, in.Conv.Fixed.Version, dr.Preset.Name, dr.Preset.EarlyPours)
	return decant.HashBytes([]byte(text)).String()
}

// Waits reports whether an early pour has brought nothing to the conversation and nothing has changed
// since.
func (p *Pour) Waits() bool {
	return p.Draft.Meter.Futile.Waits(len(p.Draft.Body), func() string { return terms(p.Draft) })
}

// noteFutile remembers that an early pour brought nothing to the request.
func (p *Pour) noteFutile() {
	in := p.Draft.Input
	const bytesPerToken = 4 // as policy.MeasureEarly has it
	p.Draft.Meter.Futile = p.Draft.Meter.Futile.Again(terms(p.Draft), len(in.Body), bytesPerToken*policy.MeasureEarly(live(p.Draft.View), p.thinning()).Whole)
	if in.Count {
		return
	}
	CachedOf(in.Match.Stored).Change(func(m *Meter) { m.Futile = p.Draft.Meter.Futile })
}

// earlyTarget returns the tokens that the messages have after an early pour with a checkpoint, 0 where there is none: where
// a model writes the records, which nobody waits for in a pour for money, and where the route for bound thinking is another.
func (p *Pour) earlyTarget() int {
	in := p.Draft.Input
	if p.early() != byEditing || writes(p.Summarizer) || p.Draft.Preset.Native.Route == preset.RouteNative {
		return 0
	}
	return policy.EarlyTarget(p.Draft.Preset, p.Draft.Limits, in.Fixed, decant.CheckpointIn(p.Draft.InForce))
}

// writes reports whether a model writes the records of pours.
func writes(s policy.Summarizer) bool {
	_, same := s.(policy.Extractive)
	return s != nil && !same
}
