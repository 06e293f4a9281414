package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"hash/maphash"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/account"
	"github.com/decantdev/decant/engine/internal/decide"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/marks"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/engine/internal/outbox"
	"github.com/decantdev/decant/engine/internal/patience"
	"github.com/decantdev/decant/engine/internal/warm"
	"github.com/decantdev/decant/store"
)

// New returns an engine on a store.
func New(s Store, o Options) (*Engine, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	e := &Engine{
		store: s, opts: o, seed: maphash.MakeSeed(),
		patience: patience.Patience{Least: o.Timeouts.Optional, Most: o.Timeouts.Required},
	}
	if o.Adds.Markers {
		e.markers = marks.New()
	}
	e.behind.aside = newAside(e.note, e.caught)
	e.behind.ahead = newAhead(&e.opts, &e.env, s, e.behind.aside)
	e.behind.warm = warm.New(o.Models.Warmer, e.behind.aside.do, o.Now, o.Logger)
	e.behind.flushes = flushes{o.Models.Flusher, e.behind.aside, e.note}
	e.env = draft.Env{IDs: store.NewIDs(o.Now, rand.Reader), Now: o.Now, Model: e.model, DropBlock: o.Adds.DropBlock, NoEarlyPours: o.NoEarlyPours, OptionalTimeout: o.Timeouts.Optional, RequiredTimeout: o.Timeouts.Required}
	e.outbox = outbox.New(o.Memory.Backlog, o.ArchiveDelay, e.write, e.behind.archives.Go, func(full bool, lost int) { tellBacklog(&e.opts, full, lost) })
	e.finder = lineage.Finder{
		Store: s, Cache: lineage.NewCache(o.Memory.Conversations, o.Memory.Entries),
		Notes:    e.notes,
		UnderWay: func(s *store.State, first int) bool { return e.flights.Hold(s, first, o.Now()) },
	}
	e.till = till{o.Budgets, cmp.Or(o.Models.Purse, budget.NewPurse(s, o.Now, o.Logger)), &e.patience, e.outbox}
	if o.Watcher != nil {
		e.till.purse.Tell = o.Watcher.Warned
	}
	e.decider = decide.Decider{Store: s, Cache: e.finder.Cache, Wait: e.outbox.Wait, Patience: &e.patience, Purse: e.till.purse}
	e.accounts = account.Book{Store: s, Now: o.Now, Background: e.background, Patience: o.Timeouts.Optional, Logger: o.Logger}
	return e, nil
}

// notes returns the notes on a conversation that was read from the store, and is in memory already where before is not nil.
func (e *Engine) notes(ctx context.Context, s *store.State, before *lineage.Stored) any {
	m := notes.Recall(ctx, e.store, s)
	if before != nil {
		return notes.Of(before).Again(m)
	}
	return notes.New(m)
}
