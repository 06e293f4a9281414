package engine

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/store"
)

// spends returns what answered requests cost, and what the client's own requests would have cost by
// the same model of the cache. rs are the requests as they are stored. The meter learns from them; a
// report that cannot be true is booked like any other, and then the estimate stands in its place in fs,
// so that no meter starts from it.
func (a *attempt) spends(fs []finished, rs []store.Request) (out []store.Spend) {
	was := cost.Shadow{Prompt: a.meter.Bare}
	if a.state != nil {
		was.At = a.state.Anchor.Time
	}
	before := a.meter.usage
	for i := range fs {
		f := &fs[i]
		if f.res.Usage.Prompt() == 0 {
			continue
		}
		believable := f.believable()
		if believable {
			a.believe(f.attempt, f.res.Usage, before, was.At, f.time)
			before = f.res.Usage
		}
		s, next := f.attempt.spend(f, was)
		s.ID = rs[i].ID
		out, was = append(out, s), next
		if !believable {
			a.e.disbelieve(f)
		}
	}
	a.meter.Bare = was.Prompt
	return out
}

// spend returns what one request cost, given the client's own requests before it.
func (a *attempt) spend(f *finished, was cost.Shadow) (store.Spend, cost.Shadow) {
	u := f.res.Usage
	bare, next := was.Next(u.Prompt()+a.scale(a.leftOut()), f.time, a.lifetime(), a.state != nil && a.switched())
	bare.Output = u.Output
	terms := cost.Terms{At: f.time}
	s := store.Spend{Time: f.time, Model: a.model.ID, Usage: u, Without: bare}
	s.Cost, s.Bare = money(a, u, terms), money(a, bare, terms)
	if again := min(u.CacheWrite, max(0, u.CacheWrite-bare.CacheWrite)); again > 0 && a.poured() {
		s.Rewrite = money(a, decant.Usage{CacheWrite: again, Write1h: min(again, u.Write1h)}, terms)
	}
	return s, next
}

// money prices usage; what has no known price counts nothing.
func money(a *attempt, u decant.Usage, t cost.Terms) store.Money {
	n, _ := cost.Billionths(a.model, u, t)
	return store.Money(n)
}

// leftOut returns the tokens of what the client sent and the model was not, by the estimates of the
// decisions in force.
func (a *attempt) leftOut() (n int) {
	all := append(a.inForce[:len(a.inForce):len(a.inForce)], a.report.Decisions...)
	cp := coverOf(all)
	if cp != nil {
		n = cp.Original - cp.Compressed
	}
	for i := range all {
		d := &all[i]
		covered := cp != nil && cp.From <= d.Target.Message && d.Target.Message <= cp.To
		if edits(d.Kind) && !covered {
			n += d.Before - d.After
		}
	}
	return max(0, n)
}

// poured reports whether this request has changed something that was sent before.
func (a *attempt) poured() bool { return a.report.Reason != "" }

// believe compares what x read from the cache with what the request before had left there. The
// request of a pour is no witness, the one after it is: then everything that was written again must
// be read.
func (a *attempt) believe(x *attempt, u, was decant.Usage, before, now time.Time) {
	life := x.lifetime()
	if life == 0 || before.IsZero() || now.Sub(before) >= life || x.rel != continues || x.switched() || x.poured() {
		return
	}
	a.meter.Doubt = a.meter.Doubt.Observe(was.CacheRead+was.CacheWrite, u.CacheRead)
}
