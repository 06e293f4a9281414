package match

import (
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// Flights knows which requests are under way that hold what is stored of a conversation: as long as the
// answer may come, it is not replaced. The zero value knows none.
type Flights struct {
	mu sync.Mutex
	of map[*Flight]bool
}

// A Flight is a request under way.
type Flight struct {
	key   store.Key
	last  decant.Hash // of the chain, up to the last entry that the request holds
	until time.Time   // nobody waits longer for an answer
}

// mostFlights bounds how many requests are known to be under way, and flightLife for how long each is.
const (
	mostFlights = 10_000
	flightLife  = 15 * time.Minute
)

// Enter notes that a request leaves. It returns nil when the request holds nothing that is stored.
func (f *Flights) Enter(p *Match, committed bool, now time.Time) *Flight {
	last := p.lastHeld(committed)
	if last < 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[*Flight]bool{}
	}
	if len(f.of) >= mostFlights {
		f.prune(now)
	}
	if len(f.of) >= mostFlights { // a caller that never tells; without them a tail counts as answered, too
		clear(f.of)
	}
	x := &Flight{p.Stored.Key, p.State.Chain[last].Chain, now.Add(flightLife)}
	f.of[x] = true
	return x
}

// prune forgets requests whose end nobody has told. The flights are locked.
func (f *Flights) prune(now time.Time) {
	for x := range f.of {
		if now.After(x.until) {
			delete(f.of, x)
		}
	}
}

// Leave notes that a request was answered, or was not. For nil there is nothing to note.
func (f *Flights) Leave(x *Flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, x)
}

// Hold reports whether a request is under way that holds one of the entries of a state from index first
// on.
func (f *Flights) Hold(s *store.State, first int, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for x := range f.of {
		if x.key == s.Key && !now.After(x.until) &&
			slices.ContainsFunc(s.Chain[first:], func(e store.Entry) bool { return e.Chain == x.last }) {
			return true
		}
	}
	return false
}

// lastHeld returns the index of the last entry of its conversation that the request holds, -1 when it
// holds none that is stored. Once the request is committed it holds all of it.
func (p *Match) lastHeld(committed bool) int {
	if p.Stored == nil {
		return -1
	}
	if committed {
		return len(p.State.Chain) - 1
	}
	for i := len(p.Entries) - 1; i >= 0; i-- {
		if p.Entries[i] >= 0 {
			return p.Entries[i]
		}
	}
	return -1
}
