package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"hash/maphash"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/batch"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// Store is what an engine needs of a store.
type Store interface {
	store.Matcher
	store.Loader
	store.Committer
	store.Blobs
	store.Log
	store.Findings
	store.Directory
}

// An Engine prepares the requests of many conversations. All that it knows is in its store; what it
// keeps in memory is checked against it on every request, so that several engines may share one
// store. It is safe for concurrent use.
type Engine struct {
	store    Store
	opts     Options
	settings plan.Settings
	log      *slog.Logger
	seed     maphash.Seed // of fingerprints

	// Whose conversation a request is.
	recent  match.Recent
	finder  match.Finder
	flights match.Flights

	// What is sent.
	sizes     plan.Estimators
	accounts  plan.Accounts
	decider   plan.Decider
	deadlines plan.Deadlines
	autoCache *plan.AutoCache // nil: no markers are added

	// What is kept.
	purse  *purse.Purse
	ledger *book.Ledger
	batch  *batch.Ledger
	queue  *book.Queue[book.Answered]

	// What is done while no request waits.
	archives   sync.WaitGroup // under way
	background *background
	flusher    flushes
	ahead      *ahead
	warmer     *plan.Warmer // nil: nothing is kept warm
}

// later does necessary work that nobody waits for but Close.
func (e *Engine) later(do func(context.Context)) {
	e.archives.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), e.opts.Timeouts.Required)
		defer cancel()
		do(ctx)
	})
}

// Flush returns when what was answered so far is archived, or the context ends: for whoever then looks at the store.
func (e *Engine) Flush(ctx context.Context) error {
	e.queue.WaitAll(ctx)
	return ctx.Err()
}

// Batches returns what books batches of requests, which the provider answers later.
func (e *Engine) Batches() *batch.Ledger { return e.batch }

// Close waits for what is still being archived, and as long as necessary work may take (Timeouts.Required) for what is
// done beside requests, which it then ends.
func (e *Engine) Close() error {
	e.warmer.Close()
	e.queue.Flush()
	e.archives.Wait()
	e.background.close(e.opts.Timeouts.Required)
	return nil
}

// maxTries is how often a request is looked at anew after others have committed first.
const maxTries = 8

// caught turns a panic into an error. Where it happened is for those who run the engine, not for its
// clients.
func (e *Engine) caught(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v", v)
		e.log.Error("panic", "error", *err, "stack", string(debug.Stack()))
	}
}

func (o *Options) mode(req *Request) Mode { return cmp.Or(req.Mode, o.Mode) }

// logError logs an error that does not become the answer to a request.
func (e *Engine) logError(err error) {
	if err != nil {
		e.log.Error("a step behind a request failed", "error", err)
	}
}

// logBacklog tells those who run an engine when the store cannot follow any longer, and when it can again.
func logBacklog(o *Options, full bool, lost int) {
	if full {
		o.Logger.Error("the database cannot follow: until it can, answers are not archived, and what they brought comes back with their clients' next requests", "waiting_mb", o.Memory.Backlog>>20)
	}
	if lost > 0 {
		o.Logger.Warn("the database can follow again", "not_archived", lost)
	}
}

// Backlog returns how many bytes answers take that wait for the store, and how many answers were not archived
// because there was no room for them.
func (e *Engine) Backlog() (bytes, lost int) { return e.queue.Size() }

// model looks a model up for a request that goes to an upstream and asks for betas. What the provider says about it
// counts more than the catalogue. A window that the options name replaces both; a smaller one that the provider has
// named in a refusal counts in any case.
func (e *Engine) model(id, upstream string, learned int, betas []string) token.Model {
	m := e.published(id, upstream, betas)
	if e.opts.Window > 0 {
		m.Window, m.Assumed = e.opts.Window, false
	}
	if learned > 0 {
		m.Window, m.Assumed = min(m.Window, learned), false
	}
	return m
}

// published returns a model as its provider has it, whatever window the options say.
func (e *Engine) published(id, upstream string, betas []string) token.Model {
	m, _ := e.opts.Catalog.Lookup(id)
	m = m.For(betas)
	if e.opts.Models.Facts != nil {
		if f, ok := e.opts.Models.Facts(upstream, id); ok {
			m = m.With(f)
		}
	}
	return m
}

// New returns an engine on a store.
func New(s Store, o Options) (*Engine, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	e := &Engine{
		store: s, opts: o, log: o.Logger, seed: maphash.MakeSeed(),
		purse:     cmp.Or(o.Models.Purse, purse.New(s, o.Now, o.Logger)),
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
		Store: s, Finder: &e.finder, Settings: &e.settings, Deadlines: &e.deadlines, Purse: e.purse, Published: e.published, Logger: o.Logger,
		OnBooked: o.OnBooked, Recover: e.caught,
	}
	e.queue = book.NewQueue(o.Memory.Backlog, o.ArchiveDelay, e.ledger.Archive, e.archives.Go, func(full bool, lost int) { logBacklog(&e.opts, full, lost) })
	e.ledger.Alone = e.queue.Alone
	e.decider = plan.Decider{Store: s, Cache: e.finder.Cache, Wait: e.queue.Wait, Deadlines: &e.deadlines, Purse: e.purse}
	e.accounts = plan.Accounts{Store: s, Now: o.Now, Background: e.later, Patience: o.Timeouts.Optional, Logger: o.Logger}
	e.batch = &batch.Ledger{
		Store: s, Logger: o.Logger, Now: o.Now, Off: o.Mode == Off,
		Model: func(id string, betas []string) token.Model { return e.model(id, "", 0, betas) },
		Uncached: func(c *decant.Conversation, m token.Model) decant.Usage {
			return plan.Uncached(c, e.sizes.For(m).Conversation(c).Total())
		},
		Budgets: e.budgets, Hold: e.reserve, Release: e.purse.Release, Unmetered: func(err error) error { return &UnmeteredError{err} },
		Optional: e.deadlines.Optional, Background: e.later, Timeout: o.Timeouts.Required,
	}
	e.background = newBackground(e.logError, e.caught)
	e.ahead = newAhead(&e.opts, &e.settings, s, e.background)
	e.flusher = flushes{o.Models.Flusher, e.background, e.logError}
	e.warmer = plan.NewWarmer(o.Models.Warmer, e.background.do, o.Now, o.Logger)
	return e, nil
}

// cached returns what is kept in memory of a conversation that was read from the store, and is in memory already where
// before is not nil.
func (e *Engine) cached(ctx context.Context, s *store.State, before *match.Stored) any {
	m := plan.LoadMeter(ctx, e.store, s)
	if before != nil {
		return plan.CachedOf(before).Again(m)
	}
	return plan.NewCached(m)
}
