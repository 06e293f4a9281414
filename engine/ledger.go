package engine

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/store"
)

// spend returns what the request cost and what the client's own request would have cost, by the same
// model of the cache; nil when nothing was reported. It is made once, however often it is stored.
func (a *attempt) spend(id string, u decant.Usage, now time.Time) *store.Spend {
	if a.spent != nil || u.Prompt() == 0 {
		return a.spent
	}
	was := cost.Shadow{Prompt: a.meter.Bare}
	if a.state != nil {
		was.At = a.state.Anchor.Time
	}
	life := a.lifetime()
	bare, next := was.Next(u.Prompt()+a.scale(a.leftOut()), now, life, a.state != nil && a.switched())
	bare.Output = u.Output
	a.believe(u, was.At, now, life)
	a.meter.Bare = next.Prompt
	terms := cost.Terms{At: now}
	s := &store.Spend{ID: id, Time: now, Model: a.model.ID, Usage: u, Without: bare}
	s.Cost, s.Bare = money(a, u, terms), money(a, bare, terms)
	if again := min(u.CacheWrite, max(0, u.CacheWrite-bare.CacheWrite)); again > 0 && a.poured() {
		s.Rewrite = money(a, decant.Usage{CacheWrite: again, Write1h: min(again, u.Write1h)}, terms)
	}
	a.spent = s
	return s
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

// believe compares what was read from the cache with what the request before had left there. The
// request of a pour is no witness, the one after it is: then everything that was written again must
// be read.
func (a *attempt) believe(u decant.Usage, before, now time.Time, life time.Duration) {
	if life == 0 || before.IsZero() || now.Sub(before) >= life || a.rel != continues || a.switched() || a.poured() {
		return
	}
	a.meter.Doubt = a.meter.Doubt.Observe(a.meter.usage.CacheRead+a.meter.usage.CacheWrite, u.CacheRead)
}
