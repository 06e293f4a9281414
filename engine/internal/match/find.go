package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A Finder finds the conversations of requests.
type Finder struct {
	Store    Store
	Cache    *Cache
	Notes    func(ctx context.Context, s *store.State, before *Stored) any // to keep with a conversation that was read, perhaps again
	UnderWay func(s *store.State, first int) bool                          // whether a request waits for its answer that holds an entry from first on
}

// Store is what finding needs of a store.
type Store interface {
	store.Matcher
	store.Loader
	store.Blobs
	store.Log
}

// Find returns the match of a request: the longest known beginning of its chain within the tenant
// and the session. There is no fuzzy matching: what is not known begins a new conversation.
func (f *Finder) Find(ctx context.Context, who Start, r *Prompt) (*Match, error) {
	if len(r.Spine) == 0 {
		return &Match{Relation: Begins}, nil
	}
	p, err := f.findCached(ctx, who, r)
	if p != nil || err != nil {
		return p, err
	}
	m, err := f.match(ctx, who, r)
	if err != nil {
		return nil, fmt.Errorf("match conversation: %w", err)
	}
	if m.Known == 0 {
		return f.findRest(ctx, who, r)
	}
	l, err := f.load(ctx, who, store.Key{Tenant: who.Tenant, ID: m.Lines[0].ID}, m.Lines[0].Version)
	if errors.Is(err, store.ErrNotFound) { // collected since
		return &Match{Relation: Begins, Entries: Unknown(len(r.Spine))}, nil
	}
	if err != nil {
		return nil, err
	}
	known, s := l.Shared(r)
	p = Locate(l, s, r, known)
	return p, f.judge(ctx, p, r, known)
}

// fewBlocks are so few that their hashes cost less than to ask the store twice.
const fewBlocks = 8

// match asks the store for the longest known beginning of a request. Of a long request it asks for the
// first block alone before the others are hashed: new conversations may begin with much text.
func (f *Finder) match(ctx context.Context, who Start, r *Prompt) (store.Match, error) {
	if len(r.Spine) > fewBlocks {
		m, err := f.Store.Match(ctx, who.Tenant, who.Session, []decant.Hash{who.First})
		if err != nil || m.Known == 0 {
			return m, err
		}
	}
	return f.Store.Match(ctx, who.Tenant, who.Session, r.Hashes())
}

// findRest returns the match of a request of which not even the beginning is known: that of a
// conversation in memory of the same session whose beginning the client has left out, or a new one.
func (f *Finder) findRest(ctx context.Context, who Start, r *Prompt) (*Match, error) {
	for _, l := range f.Cache.session(who.Tenant, who.Session) {
		s := l.State()
		p := &Match{Relation: Amends, Stored: l, State: s, Entries: Unknown(len(r.Spine))}
		spine := SpineOf(s)
		if p.LastAnswer(spine) < 0 || !p.amend(r, spine, 0) {
			continue
		}
		if err := f.judge(ctx, p, r, 0); err != nil || p.Relation == Amends {
			return p, err
		}
	}
	return &Match{Relation: Begins, Entries: Unknown(len(r.Spine))}, nil
}

// findCached returns the match of a request that holds all of a conversation in memory; nil when
// there is none. What is in memory counts only if it is still what the store has.
func (f *Finder) findCached(ctx context.Context, who Start, r *Prompt) (*Match, error) {
	l := Best(f.Cache.From(who), r)
	if l == nil {
		return nil, nil
	}
	cached := l.State().Version
	v, err := f.Store.Version(ctx, l.Key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		f.Cache.Forget(l.Key)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("check version of %s: %w", l.Key.ID, err)
	case v != cached:
		if l, err = f.load(ctx, who, l.Key, v); err != nil {
			return nil, err
		}
	}
	known, s := l.Shared(r) // of this state or, if another request has just moved it on, a later one
	p := Locate(l, s, r, known)
	if p.Relation != Continues {
		return nil, nil
	}
	return p, nil
}

// load reads a conversation into memory, unless it is there with that version already.
func (f *Finder) load(ctx context.Context, who Start, k store.Key, version int64) (*Stored, error) {
	if l := f.Cache.Get(k); l != nil && l.State().Version == version {
		return l, nil
	}
	s, err := f.Store.Load(ctx, k, store.Newest)
	if err != nil {
		return nil, fmt.Errorf("load conversation %s: %w", k.ID, err)
	}
	l := NewStored(s, f.Notes(ctx, s, f.Cache.Get(k)))
	f.Cache.Put(who, l)
	return l, nil
}

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
