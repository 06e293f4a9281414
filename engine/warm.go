package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine/internal/pour"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// How much is remembered of conversations that rest: beyond it, others are not kept warm.
const (
	mostRests     = 10_000
	mostWarmBytes = 64 << 20 // of requests
)

// A keeper keeps warm what conversations that rest have left in the provider's cache (Models.Warmer), as long as cost.KeepWarm says
// so. It holds in memory what each has cost: a restart begins anew. The nil keeper keeps nothing warm.
type keeper struct {
	by    provider.Asker
	aside *aside
	now   func() time.Time
	log   *slog.Logger

	mu    sync.Mutex
	rests map[store.Key]*rest
	bytes int // of requests
	ended bool
}

func newKeeper(o *Options, a *aside) *keeper {
	if o.Models.Warmer == nil {
		return nil
	}
	return &keeper{by: o.Models.Warmer, aside: a, now: o.Now, log: o.Logger, rests: map[store.Key]*rest{}}
}

// A rest is a conversation, resting or not.
type rest struct {
	rule    cost.KeepWarm
	entry   cost.Entry // that the newest answered request has left
	begun   time.Time  // that request
	used    time.Time  // when the entry was used last
	sent    float64    // what was spent in this pause
	calls   int        // that were made in it
	asks    provider.Request
	cause   provider.Cause
	timer   *time.Timer // until the next call, or of the one under way; nil: none comes
	turn    int         // changes with each timer, and when one is stopped
	strange bool        // its provider's cache is not as the rule takes it to be
}

// answered notes what an answered request has left in the cache, and what calls of ours before it have brought. The
// conversation rests from now on.
func (k *keeper) answered(p *Prepared, res *Response) {
	if k == nil || res.Status/100 != 2 || res.Broken || res.Batch || p.ticket.Trial != nil || p.Conversation == "" {
		return
	}
	q := p.ticket.Draft.Query
	u := p.charged(*res)
	key := store.Key{Tenant: q.Request.Who.Tenant, ID: p.Conversation}
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.rests[key]
	if r == nil && len(k.rests) >= mostRests {
		k.forget()
	}
	switch {
	case r == nil && len(k.rests) >= mostRests:
		return
	case r == nil:
		r = &rest{}
		k.rests[key] = r
	case q.Request.Begun.Before(r.begun): // a later one has been answered before
		r.rule.Paid += r.entry.Price(u)
		return
	}
	k.stop(r)
	saved := r.saved(q.Request.Begun, u)
	r.entry = entryOf(p, u)
	r.rule.Saved += saved
	r.rule.Paid += r.entry.Price(u) + saved
	r.begun, r.used, r.sent, r.calls = q.Request.Begun, q.Request.Begun, 0, 0
	if life := r.entry.Life; p.ticket.Draft.Meter.Belief.Life(life) == life { // else it is not known when it expires
		k.rest(key, r, p)
	}
}

// entryOf returns what an answered request has left in the cache.
func entryOf(p *Prepared, u decant.Usage) cost.Entry {
	q := p.ticket.Draft.Query
	e := cost.Entry{Model: q.Model, At: q.Request.Begun, Usage: u}
	if marks := cost.MessageMarks(p.ticket.Draft.View); len(marks) > 0 {
		e.Life = cost.LifeOf(marks[0].Life)
	}
	for _, m := range p.ticket.Sight.Prompt.Marks {
		if time.Duration(m.Life)*time.Second > e.Life {
			e.Safe = max(e.Safe, min(m.End, q.Fixed))
		}
	}
	return e
}

// saved returns what the calls of a pause have saved that a request has ended.
func (r *rest) saved(begun time.Time, u decant.Usage) float64 {
	if r.calls == 0 || begun.Sub(r.begun) < r.entry.Life {
		return 0
	}
	return r.entry.Lost(min(u.CacheRead, r.entry.Tokens()))
}

// rest has the first call of a pause made in time, if it may be made. k is locked.
func (k *keeper) rest(key store.Key, r *rest, p *Prepared) {
	dr := p.ticket.Draft
	q := dr.Query
	r.entry.Poured = pour.Cold(dr)
	d, ok := q.Request.Prompt.Dialect.(dialect.Warmer)
	if !ok || !r.pays() || len(p.Body) > mostWarmBytes-k.bytes {
		return
	}
	body, ok := d.Warm(p.Body)
	if !ok {
		return
	}
	k.bytes += len(body)
	r.asks = provider.Request{Model: q.Refs.Conv.Model, Body: body, Betas: slices.Concat(q.Request.Betas, p.Betas)}
	r.cause = provider.Cause{Conversation: key, Upstream: q.Request.Upstream, Purpose: provider.ForCache}
	k.next(r)
}

// pays reports whether one more call is worth it, and affordable.
func (r *rest) pays() bool {
	one := r.entry.Ping() // nothing where no price is known
	return !r.strange && r.entry.Life > 0 && r.entry.Tokens() > 0 && one > 0 && r.rule.Ping(r.sent, one, r.entry.Lost(r.entry.Tokens()))
}

// next sets the timer for the next call. What has expired already is left alone. k is locked.
func (k *keeper) next(r *rest) {
	k.over(r)
	now := k.now()
	if k.ended || !now.Before(r.used.Add(r.entry.Life)) || !r.pays() {
		k.stop(r)
		return
	}
	turn := r.turn
	r.timer = time.AfterFunc(max(0, r.used.Add(r.entry.Life-cost.PingAhead).Sub(now)), func() { k.due(r, turn) })
}

// stop ends the calls of a pause. k is locked.
func (k *keeper) stop(r *rest) {
	k.over(r)
	k.bytes -= len(r.asks.Body)
	r.asks.Body = nil
}

// over ends the turn of a timer. k is locked.
func (k *keeper) over(r *rest) {
	r.turn++
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// due makes a call whose time has come, unless it is too late, as after a machine has slept.
func (k *keeper) due(r *rest, turn int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	begun := k.now()
	switch {
	case r.turn != turn:
		return
	case !begun.Before(r.used.Add(r.entry.Life)):
		k.stop(r)
		return
	}
	cause, asks, entry := r.cause, r.asks, r.entry
	k.aside.do(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, cost.PingAhead) // afterwards it has expired
		defer cancel()
		a, err := k.by.Ask(ctx, cause, &asks)
		k.told(r, turn, &entry, begun, a, err)
		return nil // who asks has told of it
	})
}

// told notes what a call has come to. Where it has failed there is no other one in this pause.
func (k *keeper) told(r *rest, turn int, e *cost.Entry, begun time.Time, a *provider.Answer, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	usd := 0.0
	switch {
	case err == nil:
		usd = e.Price(a.Usage)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, provider.ErrBroken):
		usd = e.Ping() // it may have been made
	}
	r.rule.Spent += usd
	missed := err == nil && a.Usage.CacheRead < e.Tokens()/2
	if missed {
		r.strange = true
		k.log.Warn("a request that should keep the cache warm found little in it; the conversation is not kept warm any longer",
			"conversation", r.cause.Conversation.ID, "read", a.Usage.CacheRead, "expected", e.Tokens())
	}
	if r.turn != turn { // somebody has come, and the pause is over
		return
	}
	if err != nil || missed {
		k.stop(r)
		return
	}
	r.sent, r.calls, r.used = r.sent+usd, r.calls+1, begun
	k.next(r)
}

// came ends the pause of a conversation that goes on, and returns when a call of ours used last what its newest request
// has left in the cache; zero: none did.
func (k *keeper) came(key store.Key) (warmed time.Time) {
	if k == nil {
		return warmed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.rests[key]
	if r == nil {
		return warmed
	}
	k.stop(r)
	if r.calls > 0 {
		warmed = r.used
	}
	return warmed
}

// closed ends the pause of a conversation that is over.
func (k *keeper) closed(p *Prepared) {
	if p.ticket != nil {
		k.came(store.Key{Tenant: p.ticket.Draft.Query.Request.Who.Tenant, ID: p.Conversation})
	}
}

// close makes no further calls.
func (k *keeper) close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	for _, r := range k.rests {
		k.stop(r)
	}
}

// forget makes room: what a conversation that nobody has gone on with for a day has cost is known no longer. k is locked.
func (k *keeper) forget() {
	for key, r := range k.rests {
		if r.timer == nil && k.now().Sub(r.begun) > day {
			delete(k.rests, key)
		}
	}
}

const day = 24 * time.Hour
