// Package pace keeps calls within the rate limits of services, so that none is refused with 429.
//
// A [Pacer] is a transport that many clients share. It learns from response headers how many calls and tokens
// each service and each model has left; GitHub, Sentry, Anthropic and OpenAI send them. Calls beyond that
// wait until there is room. Retry-After holds back all calls to its service. Until a service has answered
// once, calls to it are made one at a time.
//
// A pacer cannot see what other processes use of the same limit. If a call is refused all the same, its
// caller repeats it, and the repetition waits as long as the service asks.
package pace

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// DefaultMost is the longest wait of a call unless Options says otherwise.
const DefaultMost = 90 * time.Second

// Options configures a Pacer. The zero value is good.
type Options struct {
	Via  http.RoundTripper // makes the calls; nil: http.DefaultTransport
	Most time.Duration     // that a call waits; one that would wait longer fails with a LimitError. 0: DefaultMost
}

// A Pacer makes calls when there is room for them. It is safe for concurrent use.
type Pacer struct {
	o     Options
	mu    sync.Mutex
	lanes map[string]*lane
}

// New returns a pacer that knows no limits yet.
func New(o Options) *Pacer {
	if o.Via == nil {
		o.Via = http.DefaultTransport
	}
	if o.Most <= 0 {
		o.Most = DefaultMost
	}
	return &Pacer{o: o, lanes: map[string]*lane{}}
}

// A LimitError means that a call was not made: it would have had to wait too long.
type LimitError struct {
	Service string
	Until   time.Time
}

// Error names the service and the time.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %s is used up until %s", e.Service, e.Until.UTC().Format("15:04:05 MST"))
}

// RoundTrip implements http.RoundTripper. It returns when the header of the response has arrived.
func (p *Pacer) RoundTrip(req *http.Request) (*http.Response, error) {
	name, need := costOf(req)
	if name == "" {
		return p.o.Via.RoundTrip(req)
	}
	l := p.lane(name)
	ticket, err := l.enter(req.Context(), need, p.o.Most)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as every transport has to
		}
		return nil, err
	}
	res, err := p.o.Via.RoundTrip(req)
	l.leave(ticket, res, time.Now())
	return res, err
}

// lane returns the lane of a name.
func (p *Pacer) lane(name string) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[name]
	if l == nil {
		l = &lane{name: name, changed: make(chan struct{})}
		p.lanes[name] = l
	}
	return l
}

// A lane is a group of calls that share limits.
type lane struct {
	name string

	mu      sync.Mutex
	changed chan struct{} // closed when there may be room, and made anew
	met     bool          // an answer has come
	under   int           // calls under way
	closed  time.Time     // until when no call is wanted
	meters  [kinds]meter
}

// A ticket is a call under way.
type ticket struct {
	need  amounts
	ended amounts // what calls had used that were over when it began
}

// enter waits until there is room for a call.
func (l *lane) enter(ctx context.Context, need amounts, most time.Duration) (*ticket, error) {
	for began := time.Now(); ; {
		l.mu.Lock()
		now := time.Now()
		until, free := l.room(need, now)
		if free {
			t := l.take(need)
			l.mu.Unlock()
			return t, nil
		}
		changed := l.changed
		l.mu.Unlock()
		if until.Sub(began) > most {
			return nil, &LimitError{l.name, until}
		}
		if err := wait(ctx, changed, until, now); err != nil {
			return nil, err
		}
	}
}

// wait waits for a change, or until a time unless that is zero.
func wait(ctx context.Context, changed <-chan struct{}, until, now time.Time) error {
	var clock <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(max(until.Sub(now), time.Millisecond))
		defer timer.Stop()
		clock = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
	case <-clock:
	}
	return nil
}

// room reports whether there is room for a call, and if not, when there may be; zero means when another call
// ends. The lane is locked.
func (l *lane) room(need amounts, now time.Time) (until time.Time, free bool) {
	if now.Before(l.closed) {
		return l.closed, false
	}
	if !l.met && l.under > 0 {
		return time.Time{}, false
	}
	free = true
	for i := range l.meters {
		at, ok := l.meters[i].room(need[i], now, l.under > 0)
		if !ok {
			free = false
		}
		if at.After(until) {
			until = at
		}
	}
	return until, free
}

// take begins a call. The lane is locked.
func (l *lane) take(need amounts) *ticket {
	t := &ticket{need: need}
	l.under++
	for i := range l.meters {
		m := &l.meters[i]
		m.left -= need[i]
		m.flying += need[i]
		t.ended[i] = m.ended
	}
	return t
}

// leave ends a call. res is nil if there was no response.
func (l *lane) leave(t *ticket, res *http.Response, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.under--
	for i := range l.meters {
		m := &l.meters[i]
		m.flying -= t.need[i]
		m.ended += t.need[i]
	}
	if res != nil {
		l.met = true
		if pause := retryAfter(res, now); pause > 0 && now.Add(pause).After(l.closed) {
			l.closed = now.Add(pause)
		}
		for i, r := range readings(res.Header, now) {
			if r.told {
				m := &l.meters[i]
				m.take(r, m.ended-t.ended[i]-t.need[i], now)
			}
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}
