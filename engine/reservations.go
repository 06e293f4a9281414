package engine

import (
	"sync"
	"time"
)

// reservationLife is how long a reservation holds whose request was never finished.
const reservationLife = 15 * time.Minute

// tallyLife is how long a sum that was read stands for what is booked, as long as there is plenty left. Other processes
// may book meanwhile; they take as long to archive an answer.
const tallyLife = time.Second

// A purse holds what is reserved for requests under way, so that requests side by side cannot
// overrun a budget together. The zero value is empty. Nobody asks the store for anything while it is locked.
type purse struct {
	mu     sync.Mutex
	held   map[*Request]reservation
	under  map[scope]amount // sums of held
	swept  time.Time        // when it was looked for reservations whose requests were never finished
	waited chan struct{}    // closed when a reservation ends, nil while nobody waits for that
	warned map[string]bool
	past   map[string]amount // by tenant and days: what was spent on days that have passed
	sums   map[scope]tally
	looks  map[*look]bool
}

// A scope is what a budget counts for: the conversation is empty but in a budget for one.
type scope struct{ per, tenant, conversation string }

// scope returns what a budget counts for when a request falls under it.
func (b *Budget) scope(tenant, conversation string) scope {
	if b.Per != "conversation" {
		conversation = ""
	}
	return scope{b.Per, tenant, conversation}
}

// begins reports whether it is that of a conversation which is not stored yet: nothing else falls into it.
func (s scope) begins() bool { return s.per == "conversation" && s.conversation == "" }

// scopes yields those that a reservation counts in. One that begins a conversation counts in none of its own.
func (r *reservation) scopes(yield func(scope) bool) {
	for _, per := range budgetPers {
		s := (&Budget{Per: per}).scope(r.tenant, r.conversation)
		if !s.begins() && !yield(s) {
			return
		}
	}
}

// A tally is what was booked in a scope when it was read, and what was reserved there and has ended since: about as
// much as was booked for it, and rather more.
type tally struct {
	amount
	read time.Time
}

// A look is somebody reading what is booked in a scope.
type look struct {
	scope
	ended amount // of reservations there since the look began
}

type reservation struct {
	amount
	tenant, conversation string
	until                time.Time
}

// reserved returns what is reserved for others within the scope in which a budget applies to r. The purse is locked.
func (p *purse) reserved(b *Budget, r *reservation, now time.Time) amount {
	if now.Sub(p.swept) > time.Minute || now.Before(p.swept) {
		p.sweep(now)
	}
	return p.under[b.scope(r.tenant, r.conversation)]
}

// sweep ends the reservations whose requests were never finished. The purse is locked.
func (p *purse) sweep(now time.Time) {
	p.swept = now
	for key, r := range p.held {
		if now.After(r.until) {
			p.drop(key, r)
		}
	}
}

// recent returns what was booked in a scope by what is remembered, if that is not too long ago. The purse is locked.
func (p *purse) recent(s scope, now time.Time) (amount, bool) {
	if s.begins() {
		return amount{}, true
	}
	t, ok := p.sums[s]
	age := now.Sub(t.read)
	return t.amount, ok && age >= 0 && age <= tallyLife
}

// look notes that somebody is about to read what is booked in a scope.
func (p *purse) look(s scope) *look {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looks == nil {
		p.looks = map[*look]bool{}
	}
	l := &look{scope: s}
	p.looks[l] = true
	return l
}

// looked ends a look that has found a sum, or failed, and returns what counts as booked: with what was reserved and
// has ended meanwhile, or when the look has failed what is remembered.
func (p *purse) looked(l *look, sum amount, now time.Time, failed bool) amount {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.looks, l)
	if failed {
		return p.sums[l.scope].amount
	}
	sum = sum.plus(l.ended)
	if !l.begins() {
		p.sums = noting(p.sums, l.scope, tally{sum, now})
	}
	return sum
}

// hold adds a reservation. The purse is locked.
func (p *purse) hold(key *Request, r reservation) {
	if p.held == nil {
		p.held, p.under = map[*Request]reservation{}, map[scope]amount{}
	}
	p.held[key] = r
	for s := range r.scopes {
		p.under[s] = p.under[s].plus(r.amount)
	}
}

// drop takes a reservation out. The purse is locked.
func (p *purse) drop(key *Request, r reservation) {
	delete(p.held, key)
	for s := range r.scopes {
		if left := p.under[s].minus(r.amount); left != (amount{}) {
			p.under[s] = left
		} else {
			delete(p.under, s)
		}
	}
}

// release ends a reservation.
func (p *purse) release(key *Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.held[key]
	if !ok {
		return
	}
	p.drop(key, r)
	p.settle(r)
	if p.waited != nil {
		close(p.waited)
		p.waited = nil
	}
}

// next returns a channel that is closed when the next reservation ends. The purse is locked.
func (p *purse) next() <-chan struct{} {
	if p.waited == nil {
		p.waited = make(chan struct{})
	}
	return p.waited
}

// since returns what was spent on days that have passed, if it is known.
func (p *purse) since(key string) (amount, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum, ok := p.past[key]
	return sum, ok
}

// keep notes what was spent on days that have passed.
func (p *purse) keep(key string, sum amount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.past = noting(p.past, key, sum)
}

// settle counts a reservation that has ended as booked, in what is remembered and for those who are reading. The
// purse is locked.
func (p *purse) settle(r reservation) {
	for s := range r.scopes {
		if t, ok := p.sums[s]; ok {
			t.amount = t.plus(r.amount)
			p.sums[s] = t
		}
		for l := range p.looks {
			if l.scope == s {
				l.ended = l.ended.plus(r.amount)
			}
		}
	}
}

// mostNoted bounds what a purse remembers of each sort; when it is full it begins anew.
const mostNoted = 10_000

func noting[K comparable, V any](m map[K]V, key K, v V) map[K]V {
	if m == nil || len(m) >= mostNoted {
		m = map[K]V{}
	}
	m[key] = v
	return m
}
