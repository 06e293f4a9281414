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
		purse:     cmp.Or(o.Models.Purse, budget.NewPurse(s, o.Now, o.Logger)),
		deadlines: plan.Deadlines{Least: o.Timeouts.Optional, Most: o.Timeouts.Required},
	}
	if o.Adds.Markers {
		e.autoCache = plan.NewAutoCache()
	}
	if o.Watcher != nil {
		e.purse.Tell = o.Watcher.Warned
	}
	e.settings = plan.Settings{
		IDs: store.NewIDs(o.Now, rand.Reader), Now: o.Now, LookupModel: e.model, DropBlock: o.Adds.DropBlock, NoEarlyPours: o.NoEarlyPours,
		OptionalTimeout: o.Timeouts.Optional, RequiredTimeout: o.Timeouts.Required,
	}
	e.finder = match.Finder{
		Store: s, Cache: match.NewCache(o.Memory.Conversations, o.Memory.Entries), Notes: e.cached,
		UnderWay: func(s *store.State, first int) bool { return e.flights.Hold(s, first, o.Now()) },
	}
	e.ledger = &book.Ledger{
		Store: s, Finder: &e.finder, Settings: &e.settings, Deadlines: &e.deadlines, Purse: e.purse, Catalog: o.Catalog, Logger: o.Logger,
		OnBooked: o.Booked, Recover: e.caught,
	}
	e.queue = book.NewQueue(o.Memory.Backlog, o.ArchiveDelay, e.ledger.Archive, e.archives.Go, func(full bool, lost int) { logBacklog(&e.opts, full, lost) })
	e.ledger.Alone = e.queue.Alone
	e.decider = plan.Decider{Store: s, Cache: e.finder.Cache, Wait: e.queue.Wait, Deadlines: &e.deadlines, Purse: e.purse}
	e.accounts = plan.Accounts{Store: s, Now: o.Now, Background: e.later, Patience: o.Timeouts.Optional, Logger: o.Logger}
	e.background = newBackground(e.note, e.caught)
	e.ahead = newAhead(&e.opts, &e.settings, s, e.background)
	e.flusher = flushes{o.Models.Flusher, e.background, e.note}
	e.warmer = plan.NewWarmer(o.Models.Warmer, e.background.do, o.Now, o.Logger)
	return e, nil
}

// cached returns what is kept in memory of a conversation that was read from the store, and is in memory already where before is not nil.
func (e *Engine) cached(ctx context.Context, s *store.State, before *match.Stored) any {
	m := plan.LoadMeter(ctx, e.store, s)
	if before != nil {
		return plan.CachedOf(before).Again(m)
	}
	return plan.NewCached(m)
}
