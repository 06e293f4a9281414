package plan

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// How much is remembered of conversations that rest: beyond it, others are not kept warm.
const (
	mostRests     = 10_000
	mostWarmBytes = 64 << 20 // of requests
)

// A Warmer keeps warm what conversations that rest have left in the provider's cache, as long as cost.KeepWarm says
// so. It holds in memory what each has cost: a restart begins anew. The nil Keeper keeps nothing warm.
type Warmer struct {
	by  owncalls.Asker
	do  func(func(context.Context) error)
	now func() time.Time
	log *slog.Logger

	mu    sync.Mutex
	rests map[store.Key]*resting
	bytes int // of requests
	ended bool
}

// NewWarmer returns a Warmer whose calls by makes, nil for none. do does work that no request waits for.
func NewWarmer(by owncalls.Asker, do func(func(context.Context) error), now func() time.Time, log *slog.Logger) *Warmer {
	if by == nil {
		return nil
	}
	return &Warmer{by: by, do: do, now: now, log: log, rests: map[store.Key]*resting{}}
}

// A Rested is a request that was answered as it was sent.
type Rested struct {
	Key   store.Key
	Draft *Draft
	Marks []cost.Mark // of the client's prompt
	Body  []byte
	Betas []string
	Usage decant.Usage
}

// A rest is a conversation, resting or not.
type resting struct {
	rule    cost.KeepWarm
	entry   cost.Entry // that the newest answered request has left
	begun   time.Time  // that request
	used    time.Time  // when the entry was used last
	sent    float64    // what was spent in this pause
	calls   int        // that were made in it
	asks    provider.Request
	cause   owncalls.Cause
	timer   *time.Timer // until the next call, or of the one under way; nil: none comes
	turn    int         // changes with each timer, and when one is stopped
	strange bool        // its provider's cache is not as the rule takes it to be
}

// Answered notes what an answered request has left in the cache, and what calls of ours before it have brought. The
// conversation rests from now on.
func (k *Warmer) Answered(a *Rested) {
	in, u := a.Draft.Input, a.Usage
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.rests[a.Key]
	if r == nil && len(k.rests) >= mostRests {
		k.forget()
	}
	switch {
	case r == nil && len(k.rests) >= mostRests:
		return
	case r == nil:
		r = &resting{}
		k.rests[a.Key] = r
	case in.Begun.Before(r.begun): // a later one has been answered before
		r.rule.Paid += r.entry.Price(u)
		return
	}
	k.stop(r)
	saved := r.saved(in.Begun, u)
	r.entry = entryOf(a)
	r.rule.Saved += saved
	r.rule.Paid += r.entry.Price(u) + saved
	r.begun, r.used, r.sent, r.calls = in.Begun, in.Begun, 0, 0
	belief := &a.Draft.Meter.Belief
	if life := r.entry.Life; belief.Life(life) == life { // else it is not known when it expires
		k.rest(r, a)
	}
}

// entryOf returns what an answered request has left in the cache.
func entryOf(a *Rested) cost.Entry {
	in := a.Draft.Input
	e := cost.Entry{Model: in.Model, At: in.Begun, Usage: a.Usage}
	if marks := cost.MessageMarks(a.Draft.View); len(marks) > 0 {
		e.Life = cost.LifeOf(marks[0].Life)
	}
	for _, m := range a.Marks {
		if time.Duration(m.Life)*time.Second > e.Life {
			e.Safe = max(e.Safe, min(m.End, in.Fixed))
		}
	}
	return e
}

// saved returns what the calls of a pause have saved that a request has ended.
func (r *resting) saved(begun time.Time, u decant.Usage) float64 {
	if r.calls == 0 || begun.Sub(r.begun) < r.entry.Life {
		return 0
	}
	return r.entry.Lost(min(u.CacheRead, r.entry.Tokens()))
}

// rest has the first call of a pause made in time, if it may be made. k is locked.
func (k *Warmer) rest(r *resting, a *Rested) {
	in := a.Draft.Input
	r.entry.Poured = (&Schedule{Draft: a.Draft, Summarizer: a.Draft.Summarizer}).PoursCold()
	d, ok := in.Prompt.Dialect.(dialect.Warmer)
	if !ok || !r.pays() || len(a.Body) > mostWarmBytes-k.bytes {
		return
	}
	body, ok := d.Warm(a.Body)
	if !ok {
		return
	}
	k.bytes += len(body)
	r.asks = provider.Request{Model: in.Conv.Model, Body: body, Betas: slices.Concat(in.Betas, a.Betas)}
	r.cause = owncalls.Cause{Conversation: a.Key, Upstream: in.Upstream, Purpose: owncalls.ForCache}
	k.next(r)
}

// pays reports whether one more call is worth it, and affordable.
func (r *resting) pays() bool {
	one := r.entry.Ping() // nothing where no price is known
	return !r.strange && r.entry.Life > 0 && r.entry.Tokens() > 0 && one > 0 && r.rule.Ping(r.sent, one, r.entry.Lost(r.entry.Tokens()))
}

// next sets the timer for the next call. What has expired already is left alone. k is locked.
func (k *Warmer) next(r *resting) {
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
func (k *Warmer) stop(r *resting) {
	k.over(r)
	k.bytes -= len(r.asks.Body)
	r.asks.Body = nil
}

// over ends the turn of a timer. k is locked.
func (k *Warmer) over(r *resting) {
	r.turn++
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// due makes a call whose time has come, unless it is too late, as after a machine has slept.
func (k *Warmer) due(r *resting, turn int) {
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
	k.do(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, cost.PingAhead) // afterwards it has expired
		defer cancel()
		a, err := k.by.Ask(ctx, cause, &asks)
		k.told(r, turn, &entry, begun, a, err)
		return nil // who asks has told of it
	})
}

// told notes what a call has come to. Where it has failed there is no other one in this pause.
func (k *Warmer) told(r *resting, turn int, e *cost.Entry, begun time.Time, a *provider.Answer, err error) {
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

// Came ends the pause of a conversation that goes on, and returns when a call of ours used last what its newest request
// has left in the cache; zero: none did.
func (k *Warmer) Came(key store.Key) (warmed time.Time) {
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

// Close makes no further calls.
func (k *Warmer) Close() {
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

// forget makes room: what a conversation that nobody has gone on with for a day has cost is known no longer. k is
// locked.
func (k *Warmer) forget() {
	for key, r := range k.rests {
		if r.timer == nil && k.now().Sub(r.begun) > day {
			delete(k.rests, key)
		}
	}
}

const day = 24 * time.Hour
