package book

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Ledger stores what was decided about requests and how they were answered, and books what they cost.
type Ledger struct {
	Store     Store
	Finder    *match.Finder
	Settings  *plan.Settings
	Deadlines *plan.Deadlines
	Purse     *purse.Purse
	Published func(id, upstream string, betas []string) token.Model // a model as its provider has it
	Logger    *slog.Logger

	Alone    func(func() error) error                  // calls a function while no other archive is put together
	OnBooked func(tenant string, spends []store.Spend) // is called with what answers and records have cost, once it is stored
	Recover  func(*error)                              // turns a panic into an error

	unbelieved sync.Once // the upstream's reports cannot be true, and that was logged
}

// Store is what a ledger needs of a store.
type Store interface {
	store.Matcher
	store.Loader
	store.Committer
}

// A committer stores what becomes of an outgoing request, and brings it up to date.
type committer struct {
	*Ledger
	out *Outgoing
}

// Commit stores what was decided about a request, and brings it up to date.
//
// It stores what was decided together with the blocks that it decided about, before any
// byte of it leaves. Without decisions there is nothing to do yet: the archive follows when the
// request has been answered. It waits for the store only as long as the request may wait, also with a pour that
// is necessary: when the provider refuses what leaves without it, the request is prepared anew with more.
func (l *Ledger) Commit(ctx context.Context, out *Outgoing) error {
	if len(out.Made) == 0 || out.Count {
		return nil
	}
	b := out.Batch()
	ctx, cancel := l.Deadlines.ForWrite(ctx, len(b.Entries))
	defer cancel()
	if err := (&committer{l, out}).store(ctx, b); err != nil {
		return err
	}
	if own := b.Events.Spends; len(own) > 0 {
		l.OnBooked(b.Key.Tenant, own)
	}
	return nil
}

// store commits a batch and brings the cached line up to date.
func (c *committer) store(ctx context.Context, b *store.Batch) error {
	version, err := c.Store.Commit(ctx, b)
	c.Deadlines.Observe(err)
	if errors.Is(err, store.ErrNotFound) && c.out.Match.Stored != nil { // collected since it was read
		c.Finder.Cache.Forget(c.out.Match.Stored.Key)
		return fmt.Errorf("commit: %w: %w", err, store.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return c.stored(ctx, b, version)
}

// stored brings what was sent up to the state that its commit made.
func (c *committer) stored(ctx context.Context, b *store.Batch, version int64) error {
	out := c.out
	in, m := out.Input, out.Match
	l, current := m.Stored, out.Current()
	switch {
	case b.Create == nil && l.Advance(m.State, b, version):
	case b.Create != nil && b.Create.Origin == nil:
		s := &store.State{Conversation: store.Conversation{Key: b.Key, Session: b.Create.Session, Agent: b.Create.Agent, Project: b.Create.Project}}
		l = match.NewStored(s, plan.NewCached(plan.Meter{}))
		l.Advance(s, b, version)
	default:
		s, err := c.Store.Load(ctx, b.Key, version)
		if err != nil {
			c.Finder.Cache.Forget(b.Key)
			return nil // it is stored; the next request reads it
		}
		if b.Create == nil {
			l = match.NewStored(s, plan.CachedOf(m.Stored).Again(plan.Meter{}))
			out.Meter = plan.LoadMeter(ctx, c.Store, s) // an answer was recorded meanwhile
		} else {
			l = match.NewStored(s, plan.NewCached(plan.Meter{}))
			out.Meter.Length = 0 // what was reported is about the parent
		}
	}
	if b.Create != nil {
		if out.Trial != nil { // what was planned for the request that the conversation begins with
			plan.CachedOf(l).SetPlanned(out.Trial.All)
		}
	}
	for i := range b.Decisions {
		if cp := b.Decisions[i].Checkpoint; cp != nil {
			plan.CachedOf(l).Charged(cp)
		}
	}
	m.Stored, m.State = l, l.State()
	if len(b.Decisions) > 0 || b.Create != nil && current {
		out.Decided = len(m.State.Decisions)
	}
	out.NoteMeter()
	m.Kept = len(m.State.Chain)
	out.State = Stored
	m.Stored.Saw(in.Prompt, len(in.Prompt.Spine))
	c.Finder.Cache.Put(in.Start, m.Stored)
	return nil
}

// Announce notes in the store that a request is tried again which has failed before, so that no other
// process replaces what it ends with while its answer may come.
func (l *Ledger) Announce(ctx context.Context, out *Outgoing) error {
	in, m := out.Input, out.Match
	if in.Count || m.Stored == nil || out.Stored() || !m.Repeats() {
		return nil
	}
	first := 0 // entry of the tail
	if spine := match.SpineOf(m.State); m.LastAnswer(spine) >= 0 {
		first = spine[m.LastAnswer(spine)] + 1
	}
	t, err := l.Finder.TailOf(ctx, m.State)
	if err != nil || t.Settled(first) {
		return err
	}
	if out.Announced, err = in.IDs.Next(); err != nil {
		return err
	}
	r := store.Request{ID: out.Announced, Time: in.Now().UTC(), Version: m.State.Version, Length: len(m.State.Chain), API: in.Prompt.API(), Model: in.Conv.Model, Fixed: in.Conv.Fixed.Version}
	ctx, cancel := l.Deadlines.ForStore(ctx)
	defer cancel()
	if err := l.Store.Record(ctx, m.Stored.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
		return fmt.Errorf("note that a request is tried again: %w", err)
	}
	return nil
}
