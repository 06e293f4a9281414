package replay

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// Warm is what keeping the cache of a recorded session warm would have come to, by its usage alone.
type Warm struct {
	Pings   int     `json:"pings"`       // requests of one output token
	Pauses  int     `json:"pauses"`      // after which the cache had expired
	Kept    int     `json:"kept"`        // of them, those over which it would have been kept
	Without float64 `json:"without_usd"` // what the session cost
	Spent   float64 `json:"spent_usd"`   // on the pings, those after the last answer included
	Saved   float64 `json:"saved_usd"`
}

// Share returns what the session would have cost with keep-warm, as a share of what it did cost; 1 when it cost nothing.
func (w *Warm) Share() float64 {
	if w.Without == 0 {
		return 1
	}
	return (w.Without + w.Spent - w.Saved) / w.Without
}

// add adds up.
func (w *Warm) add(o *Warm) {
	w.Pings, w.Pauses, w.Kept = w.Pings+o.Pings, w.Pauses+o.Pauses, w.Kept+o.Kept
	w.Without, w.Spent, w.Saved = w.Without+o.Without, w.Spent+o.Spent, w.Saved+o.Saved
}

// SumWarm adds up what keep-warm would have come to; nil when nobody asked.
func SumWarm(ss []*Session) (out *Warm) {
	for _, s := range ss {
		if s.Warm == nil {
			continue
		}
		if out == nil {
			out = &Warm{}
		}
		out.add(s.Warm)
	}
	return out
}

// keepWarm plays the rule of [cost.KeepWarm] on the pauses of a recorded session. An entry counts as lost only where the
// usage shows that it was. It returns nil where the usage says nothing of entries with a lifetime.
func keepWarm(c *decant.Conversation, find func(id string) token.Model) *Warm {
	rs := cause.Recorded(c)
	out, k, told := &Warm{}, cost.KeepWarm{}, false
	for i := range rs {
		r := &rs[i]
		m := find(r.Message.Model)
		u := r.Prompt.Usage
		u.Output = cost.Answered(r.Message, token.For(m))
		usd, known := cost.Of(m, u, cost.Terms{At: cost.Day(r.Message.Time)}).Total()
		if !known || m.Provider != token.Anthropic {
			return nil
		}
		told = told || u.CacheWrite > 0
		k.Paid += usd
		rest := pause{from: r.Prompt.At, kept: cost.Entry{Model: m, At: cost.Day(r.Message.Time), Usage: r.Prompt.Usage, Life: time.Duration(r.Prompt.Life) * time.Second}}
		if i+1 < len(rs) {
			rest.next = &rs[i+1]
		}
		rest.play(&k, out)
	}
	if !told {
		return nil
	}
	out.Without, out.Spent, out.Saved = k.Paid, k.Spent, k.Saved
	return out
}

// A pause is the time between two requests, or behind the last.
type pause struct {
	from time.Time
	kept cost.Entry
	next *cause.Request // nil: nobody came back
}

// play keeps the cache warm for as long as the rule says.
func (p *pause) play(k *cost.KeepWarm, out *Warm) {
	prefix := p.kept.Tokens()
	if p.kept.Life == 0 || prefix == 0 {
		return
	}
	one, lost := p.kept.Ping(), p.kept.Lost(prefix)
	warm, sent, n := p.kept.Life, 0.0, 0 // how long it is warm, with the pings so far
	for (p.next == nil || p.length() >= warm-cost.PingAhead) && k.Ping(sent, one, lost) {
		warm += p.kept.Life - cost.PingAhead
		sent, n, k.Spent = sent+one, n+1, k.Spent+one
	}
	out.Pings += n
	tokens := p.expired()
	if tokens == 0 {
		return
	}
	out.Pauses++
	if n > 0 && p.length() < warm {
		out.Kept++
		k.Saved += p.kept.Lost(tokens)
	}
}

// length returns how long the pause was.
func (p *pause) length() time.Duration { return p.next.Prompt.At.Sub(p.from) }

// expired returns the tokens that the next request wrote again because the entry had expired.
func (p *pause) expired() (n int) {
	if p.next == nil {
		return 0
	}
	for _, part := range p.next.Parts {
		if part.Kind == cause.Expired {
			n += part.Tokens
		}
	}
	return n
}
