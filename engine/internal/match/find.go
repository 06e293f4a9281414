package match

import (
	"context"
	"errors"
	"fmt"

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
