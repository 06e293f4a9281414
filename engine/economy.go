package engine

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/token"
)

// economy returns what the schedule has to know of money. What the provider does not keep is paid in full
// each time, so removing something from it costs nothing.
func (p *pouring) economy() policy.Economy {
	if p.dr.q.env.NoEarlyPours && !p.dr.q.pressed || !p.dr.q.preset.Thrift.On() || p.dr.q.match.State == nil || p.dr.q.match.Relation != lineage.Continues || p.early() == notEarly || p.futile() {
		return policy.Economy{}
	}
	e := policy.Economy{Early: true, Switched: p.dr.q.switched() && p.dr.meter.Belief.Moves(), Idle: p.dr.idle()}
	r := cost.ReachOf(p.dr.view, e.Idle, p.dr.meter.Belief)
	e.Lifetime = r.Life
	e.Write, e.Read = p.rates(r)
	e.Read = p.dr.meter.Doubt.Read(e.Read, e.Write)
	p.money = e
	t := p.thinning()
	if !e.Cold() {
		t.Beyond = r.Beyond
	}
	plain, _ := p.rates(cost.Reach{})
	free, _ := cost.FreeMarkers(p.dr.q.refs.Conv)
	e = e.Weigh(policy.MeasureEarly(p.dr.view, t), p.dr.q.fixed, plain, free > 0)
	e.Patience = p.dr.q.preset.Thrift.Settled().Patience
	return e
}

// rates returns the prices of writing and of reading what is within Reach, in dollars per million tokens.
// Without a cache both are the price of input; where prices are not known, the usual proportions count.
func (p *pouring) rates(within cost.Reach) (write, read float64) {
	r := token.Rates{Input: token.Rate{USD: 1, Known: true}, CacheRead: token.Rate{USD: 0.1, Known: true},
		Write5m: token.Rate{USD: 1.25, Known: true}, Write1h: token.Rate{USD: 2, Known: true}}
	if price, _, ok := p.dr.q.model.PriceAt(p.dr.q.env.Now()); ok {
		r = price.At(p.dr.outcome.Before)
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
func (p *pouring) thinning() policy.EarlyPour {
	t := policy.EarlyPour{Preset: p.dr.q.preset, Counter: p.dr.q.est, Transcript: p.dr.q.refs.Conv, Pinned: decant.PinsIn(p.dr.inForce), Cold: p.money.Cold()}
	t.Made = append(append(t.Made, p.dr.inForce...), p.dr.made...)
	m := p.early()
	t.Signed, t.Native = m != byEditing, m == byClearing
	return t
}

// terms returns what the outcome of an early pour depends on, besides the messages: the decisions of
// the conversation, those included that were taken back, the model, the fixed part and the policy.
func (p *pouring) terms() string {
	text := fmt.Sprintf("%d %q %s %q %v", len(p.dr.q.match.State.Decisions), p.dr.q.refs.Conv.Model, p.dr.q.refs.Conv.Fixed.Version, p.dr.q.preset.Name, p.dr.q.preset.Thrift)
	return decant.HashBytes([]byte(text)).String()
}

// futile reports whether an early pour has brought nothing to the conversation and nothing has changed
// since.
func (p *pouring) futile() bool { return p.dr.meter.Futile.Waits(len(p.dr.q.req.Body), p.terms) }

// noteFutile remembers that an early pour brought nothing to the request.
func (p *pouring) noteFutile() {
	const bytesPerToken = 4 // as policy.MeasureEarly has it
	p.dr.meter.Futile = p.dr.meter.Futile.Again(p.terms(), len(p.dr.q.req.Body), bytesPerToken*policy.MeasureEarly(p.dr.view, p.thinning()).Whole)
	if p.dr.q.req.Count {
		return
	}
	notes.Of(p.dr.q.match.Stored).Change(func(m *notes.Meter) { m.Futile = p.dr.meter.Futile })
}
