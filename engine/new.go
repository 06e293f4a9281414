package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"hash/maphash"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/store"
)

// New returns an engine on a store.
func New(s Store, o Options) (*Engine, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	e := &Engine{
		store: s, opts: o, seed: maphash.MakeSeed(),
		patience: plan.Deadlines{Least: o.Timeouts.Optional, Most: o.Timeouts.Required},
	}
	if o.Adds.Markers {
		e.markers = plan.NewAutoCache()
	}
	e.behind.aside = newAside(e.note, e.caught)
	e.behind.ahead = newAhead(&e.opts, &e.settings, s, e.behind.aside)
	e.behind.warm = plan.NewWarmer(o.Models.Warmer, e.behind.aside.do, o.Now, o.Logger)
	e.behind.flushes = flushes{o.Models.Flusher, e.behind.aside, e.note}
	e.settings = plan.Settings{IDs: store.NewIDs(o.Now, rand.Reader), Now: o.Now, LookupModel: e.model, DropBlock: o.Adds.DropBlock, NoEarlyPours: o.NoEarlyPours, OptionalTimeout: o.Timeouts.Optional, RequiredTimeout: o.Timeouts.Required}
	e.outbox = book.NewQueue(o.Memory.Backlog, o.ArchiveDelay, e.write, e.behind.archives.Go, func(full bool, lost int) { tellBacklog(&e.opts, full, lost) })
	e.finder = match.Finder{
		Store: s, Cache: match.NewCache(o.Memory.Conversations, o.Memory.Entries),
		Notes:    e.notes,
		UnderWay: func(s *store.State, first int) bool { return e.flights.Hold(s, first, o.Now()) },
	}
	e.till = till{o.Budgets, cmp.Or(o.Models.Purse, budget.NewPurse(s, o.Now, o.Logger)), &e.patience, e.outbox}
	if o.Watcher != nil {
		e.till.purse.Tell = o.Watcher.Warned
	}
	e.decider = plan.Decider{Store: s, Cache: e.finder.Cache, Wait: e.outbox.Wait, Patience: &e.patience, Purse: e.till.purse}
	e.accounts = plan.Accounts{Store: s, Now: o.Now, Background: e.background, Patience: o.Timeouts.Optional, Logger: o.Logger}
	return e, nil
}

// notes returns the notes on a conversation that was read from the store, and is in memory already where before is not nil.
func (e *Engine) notes(ctx context.Context, s *store.State, before *match.Stored) any {
	m := plan.LoadMeter(ctx, e.store, s)
	if before != nil {
		return plan.CachedOf(before).Again(m)
	}
	return plan.NewCached(m)
}
