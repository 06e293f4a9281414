package engine

import (
	"sync"
	"time"
)

// reservationLife is how long a reservation holds whose request was never finished.
const reservationLife = 15 * time.Minute

// A purse holds what is reserved for requests under way, so that requests side by side cannot
// overrun a budget together. The zero value is empty.
type purse struct {
	mu     sync.Mutex
	held   map[*Request]reservation
	ended  chan struct{} // closed when a reservation ends, nil while nobody waits for that
	warned map[string]bool
	past   map[string]amount // by tenant and day: what was spent before the day before
}

type reservation struct {
	amount
	tenant, conversation string
	until                time.Time
}

// reserved returns what is reserved within a budget's scope.
func (p *purse) reserved(b *Budget, tenant, conversation string, now time.Time) (sum amount) {
	for key, r := range p.held {
		switch {
		case now.After(r.until):
			delete(p.held, key)
		case r.tenant == tenant && (b.Per != "conversation" || r.conversation == conversation):
			sum = sum.plus(r.amount)
		}
	}
	return sum
}

// hold adds a reservation.
func (p *purse) hold(key *Request, r reservation) {
	if p.held == nil {
		p.held = map[*Request]reservation{}
	}
	p.held[key] = r
}

// release ends a reservation.
func (p *purse) release(key *Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.held[key]; !ok {
		return
	}
	delete(p.held, key)
	if p.ended != nil {
		close(p.ended)
		p.ended = nil
	}
}

// next returns a channel that is closed when the next reservation ends.
func (p *purse) next() <-chan struct{} {
	if p.ended == nil {
		p.ended = make(chan struct{})
	}
	return p.ended
}

// mostNoted bounds what a purse remembers of each sort; when it is full it begins anew.
const mostNoted = 10_000

func noting[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil || len(m) >= mostNoted {
		m = map[string]V{}
	}
	m[key] = v
	return m
}
