package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/store"
)

// A committer stores what becomes of a ticket, and brings the ticket up to date.
type committer struct {
	e  *Engine
	tk *book.Outgoing
}

// commit stores what was decided together with the blocks that it decided about, before any
// byte of it leaves. Without decisions there is nothing to do yet: the archive follows when the
// request has been answered. It waits for the store only as long as the request's patience lasts, also with a pour that
// is necessary: when the provider refuses what leaves without it, the request is prepared anew with more.
func (c *committer) commit(ctx context.Context) error {
	if len(c.tk.Draft.Made) == 0 || c.tk.Draft.Count {
		return nil
	}
	ctx, cancel := c.e.patience.Waiting(ctx)
	defer cancel()
	b := c.tk.Batch()
	if err := c.store(ctx, b); err != nil {
		return err
	}
	if own := b.Events.Spends; len(own) > 0 {
		c.e.opts.Booked(b.Key.Tenant, own)
	}
	return nil
}

// store commits a batch and brings the cached line up to date.
func (c *committer) store(ctx context.Context, b *store.Batch) error {
	version, err := c.e.store.Commit(ctx, b)
	c.e.patience.Judge(err)
	if errors.Is(err, store.ErrNotFound) && c.tk.Draft.Match.Stored != nil { // collected since it was read
		c.e.finder.Cache.Forget(c.tk.Draft.Match.Stored.Key)
		return fmt.Errorf("commit: %w: %w", err, store.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return c.stored(ctx, b, version)
}

// stored makes the ticket one about the state that its commit made.
func (c *committer) stored(ctx context.Context, b *store.Batch, version int64) error {
	in, m := c.tk.Draft.Input, c.tk.Draft.Match
	l, current := m.Stored, c.tk.Current()
	switch {
	case b.Create == nil && l.Advance(m.State, b, version):
	case b.Create != nil && b.Create.Origin == nil:
		s := &store.State{Conversation: store.Conversation{Key: b.Key, Session: b.Create.Session, Agent: b.Create.Agent, Project: b.Create.Project}}
		l = match.NewStored(s, plan.NewCached(plan.Meter{}))
		l.Advance(s, b, version)
	default:
		s, err := c.e.store.Load(ctx, b.Key, version)
		if err != nil {
			c.e.finder.Cache.Forget(b.Key)
			return nil // it is stored; the next request reads it
		}
		if b.Create == nil {
			l = match.NewStored(s, plan.CachedOf(m.Stored).Again(plan.Meter{}))
			c.tk.Draft.Meter = plan.LoadMeter(ctx, c.e.store, s) // an answer was recorded meanwhile
		} else {
			l = match.NewStored(s, plan.NewCached(plan.Meter{}))
			c.tk.Draft.Meter.Length = 0 // what was reported is about the parent
		}
	}
	if b.Create != nil {
		if c.tk.Trial != nil { // what was planned for the request that the conversation begins with
			plan.CachedOf(l).SetPlanned(c.tk.Trial.All)
		}
	}
	m.Stored, m.State = l, l.State()
	if len(b.Decisions) > 0 || b.Create != nil && current {
		c.tk.Decided = len(m.State.Decisions)
	}
	c.tk.NoteMeter()
	m.Kept = len(m.State.Chain)
	c.tk.State = book.Stored
	m.Stored.Saw(in.Prompt, len(in.Prompt.Spine))
	c.e.finder.Cache.Put(in.Start, m.Stored)
	return nil
}

// announce notes in the store that a request is tried again which has failed before, so that no other
// process replaces what it ends with while its answer may come.
func (c *committer) announce(ctx context.Context) error {
	in, m := c.tk.Draft.Input, c.tk.Draft.Match
	if in.Count || m.Stored == nil || c.tk.Stored() || !m.Repeats() {
		return nil
	}
	first := 0 // entry of the tail
	if spine := match.SpineOf(m.State); m.LastAnswer(spine) >= 0 {
		first = spine[m.LastAnswer(spine)] + 1
	}
	t, err := c.e.finder.TailOf(ctx, m.State)
	if err != nil || t.Settled(first) {
		return err
	}
	if c.tk.Announced, err = in.IDs.Next(); err != nil {
		return err
	}
	r := store.Request{ID: c.tk.Announced, Time: in.Now().UTC(), Version: m.State.Version, Length: len(m.State.Chain), API: in.Prompt.API(), Model: in.Conv.Model, Fixed: in.Conv.Fixed.Version}
	ctx, cancel := c.e.patience.Waiting(ctx)
	defer cancel()
	if err := c.e.store.Record(ctx, m.Stored.Key, &store.Events{Requests: []store.Request{r}}); err != nil {
		return fmt.Errorf("note that a request is tried again: %w", err)
	}
	return nil
}
