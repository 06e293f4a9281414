package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/store"
)

// flights knows which requests are under way that hold what is stored of a conversation: as long as the
// answer may come, it is not replaced. The zero value knows none.
type flights struct {
	mu sync.Mutex
	of map[*Request]flight
}

// A flight is a request under way.
type flight struct {
	key   store.Key
	last  decant.Hash // of the chain, up to the last entry that the request holds
	until time.Time   // nobody waits longer for an answer
}

// mostFlights bounds how many requests are known to be under way.
const mostFlights = 10_000

// enter notes that a request leaves.
func (f *flights) enter(tk *ticket, now time.Time) {
	last := tk.lastHeld()
	if last < 0 || tk.req.Count {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[*Request]flight{}
	}
	if len(f.of) >= mostFlights {
		f.prune(now)
	}
	if len(f.of) >= mostFlights { // a caller that never tells; without them a tail counts as answered, too
		clear(f.of)
	}
	f.of[tk.req] = flight{tk.Stored.Key, tk.State.Chain[last].Chain, now.Add(budget.Life)}
}

// prune forgets requests whose end nobody has told. The flights are locked.
func (f *flights) prune(now time.Time) {
	for req, x := range f.of {
		if now.After(x.until) {
			delete(f.of, req)
		}
	}
}

// leave notes that a request was answered, or was not.
func (f *flights) leave(req *Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, req)
}

// hold reports whether a request is under way that holds one of the entries of a state from index first
// on.
func (f *flights) hold(s *store.State, first int, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.of {
		if x.key == s.Key && !now.After(x.until) &&
			slices.ContainsFunc(s.Chain[first:], func(e store.Entry) bool { return e.Chain == x.last }) {
			return true
		}
	}
	return false
}

// lastHeld returns the index of the last entry of its conversation that the request holds, -1 when it
// holds none that is stored.
func (tk *ticket) lastHeld() int {
	if tk.Stored == nil {
		return -1
	}
	if tk.committed {
		return len(tk.State.Chain) - 1
	}
	for i := len(tk.Entries) - 1; i >= 0; i-- {
		if tk.Entries[i] >= 0 {
			return tk.Entries[i]
		}
	}
	return -1
}
