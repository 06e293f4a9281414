package purse

import (
	"sync"
	"time"

	"github.com/decantdev/decant/budget"
)

// life is how long a reservation holds whose request was never finished.
const life = 15 * time.Minute

// tallyLife is how long a sum that was read counts as what is booked, as long as there is plenty left. Other processes
// may book meanwhile; they take as long to archive an answer.
const tallyLife = time.Second

// A memory is what a purse knows without asking the store: what is reserved for requests under way, and what was
// spent when it was last read. The zero value is empty. Nobody asks the store for anything while it is locked.
type memory struct {
	mu     sync.Mutex
	held   map[*Reservation]bool
	under  map[scope]Amount // sums of held
	swept  time.Time        // when it was looked for *Reservations whose requests were never finished
	waited chan struct{}    // closed when a reservation ends, nil while nobody waits for that
	warned map[string]bool
	past   map[string]Amount // by tenant and days: what was spent on days that have passed
	sums   map[scope]tally
	looks  map[*look]bool
}

// scopes yields those that a reservation counts in. One that begins a conversation counts in none of its own.
func (r *Reservation) scopes(yield func(scope) bool) {
	for _, per := range pers {
		s := scopeOf(&budget.Budget{Per: per}, r)
		if !s.begins() && !yield(s) {
			return
		}
	}
}

// A tally is what was booked in a scope when it was read, and what was reserved there and has ended since: about as
// much as was booked for it, and rather more.
type tally struct {
	Amount
	read time.Time
}

// A look is somebody reading what is booked in a scope.
type look struct {
	scope
	ended Amount // of reservations there since the look began
}

// reserved returns what is reserved for others within the scope in which a budget applies to r. The memory is locked.
func (m *memory) reserved(b *budget.Budget, r *Reservation, now time.Time) Amount {
	if now.Sub(m.swept) > time.Minute || now.Before(m.swept) {
		m.sweep(now)
	}
	return m.under[scopeOf(b, r)]
}

// sweep ends the reservations whose requests were never finished. The memory is locked.
func (m *memory) sweep(now time.Time) {
	m.swept = now
	for r := range m.held {
		if now.After(r.until) {
			m.drop(r)
		}
	}
}

// recent returns what was booked in a scope by what is remembered, if that is not too long ago. The memory is locked.
func (m *memory) recent(s scope, now time.Time) (Amount, bool) {
	if s.begins() {
		return Amount{}, true
	}
	t, ok := m.sums[s]
	age := now.Sub(t.read)
	return t.Amount, ok && age >= 0 && age <= tallyLife
}

// look notes that somebody is about to read what is booked in a scope.
func (m *memory) look(s scope) *look {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looks == nil {
		m.looks = map[*look]bool{}
	}
	l := &look{scope: s}
	m.looks[l] = true
	return l
}

// looked ends a look that has found a sum, or failed, and returns what counts as booked: with what was reserved and
// has ended meanwhile, or when the look has failed what is remembered.
func (m *memory) looked(l *look, sum Amount, now time.Time, failed bool) Amount {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.looks, l)
	if failed {
		return m.sums[l.scope].Amount
	}
	sum = sum.Plus(l.ended)
	if !l.begins() {
		m.sums = noting(m.sums, l.scope, tally{sum, now})
	}
	return sum
}

// hold adds a reservation. The memory is locked.
func (m *memory) hold(r *Reservation) {
	if m.held == nil {
		m.held, m.under = map[*Reservation]bool{}, map[scope]Amount{}
	}
	m.held[r] = true
	for s := range r.scopes {
		m.under[s] = m.under[s].Plus(r.Most)
	}
}

// drop takes a reservation out. The memory is locked.
func (m *memory) drop(r *Reservation) {
	delete(m.held, r)
	for s := range r.scopes {
		if left := m.under[s].Minus(r.Most); left != (Amount{}) {
			m.under[s] = left
		} else {
			delete(m.under, s)
		}
	}
}

// release ends a reservation.
func (m *memory) release(r *Reservation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.held[r] {
		return
	}
	m.drop(r)
	m.settle(r)
	if m.waited != nil {
		close(m.waited)
		m.waited = nil
	}
}

// next returns a channel that is closed when the next reservation ends. The memory is locked.
func (m *memory) next() <-chan struct{} {
	if m.waited == nil {
		m.waited = make(chan struct{})
	}
	return m.waited
}

// since returns what was spent on days that have passed, if it is known.
func (m *memory) since(key string) (Amount, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum, ok := m.past[key]
	return sum, ok
}

// keep notes what was spent on days that have passed.
func (m *memory) keep(key string, sum Amount) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.past = noting(m.past, key, sum)
}

// settle counts a reservation that has ended as booked, in what is remembered and for those who are reading. The
// memory is locked.
func (m *memory) settle(r *Reservation) {
	for s := range r.scopes {
		if t, ok := m.sums[s]; ok {
			t.Amount = t.Plus(r.Most)
			m.sums[s] = t
		}
		for l := range m.looks {
			if l.scope == s {
				l.ended = l.ended.Plus(r.Most)
			}
		}
	}
}

// mostNoted bounds what is remembered of each sort; when it is full it is emptied.
const mostNoted = 10_000

func noting[K comparable, V any](m map[K]V, key K, v V) map[K]V {
	if m == nil || len(m) >= mostNoted {
		m = map[K]V{}
	}
	m[key] = v
	return m
}
