package engine

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/store"
)

// leastMissed is how many tokens must be written again in one request for the log to say why. Of a pour it says nothing
// here: the line of its request, and its notice, do.
const leastMissed = 10_000

// writes says why a request wrote to the cache what it wrote, and notes what it left there.
func (b *booking) writes(x *book.Outgoing, u decant.Usage) (out []store.Write) {
	m := &b.dr.Meter
	before := m.Newest.Sent
	if warmed := x.Draft.Warmed; before != nil && warmed.After(before.At) {
		kept := *before
		kept.At, before = warmed, &kept // it lives from there on
	}
	step := x.Sight.Step(before, u)
	step.Pour = x.Draft.Outcome.Poured() || x.Sight.Decisions != b.decided
	for _, p := range cause.Explain(before, step) {
		out = append(out, store.Write{Cause: string(p.Kind), Detail: p.Detail, Tokens: p.Tokens, Hour: p.Hour})
		if p.Kind.Avoidable() && p.Kind != cause.Poured && p.Tokens >= leastMissed {
			b.e.opts.Logger.Info("written to the cache again", "tokens", p.Tokens, "cause", string(p.Kind), "detail", p.Detail, "model", x.Draft.Model.ID)
		}
	}
	sent := step.Now
	m.Newest.Sent = &sent
	return out
}
