// Package embedded gives a Go program all of Decant in one call: an engine, a store in one file, and
// an HTTP client for the program's SDK.
//
//	db, err := embedded.Open(ctx, "agent.db", nil)
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	client := anthropic.NewClient(option.WithHTTPClient(db.Client()))
//	answer, err := client.Messages.New(ctx, params) // as before
//
// The rest of the program stays as it is. Conversations may outgrow the model's window: when one becomes
// too large, the client sends less of it, and the file keeps all of it. The same happens earlier when it
// saves money, unless engine.Options.NoEarlyPours forbids that. Requests without cache markers get some
// when that saves money, unless Options.NoMarkers forbids that. [DB.Engine] plans, undoes and pins;
// [DB.Store] finds what was said.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/transport"
)

// Options configures what Open makes. The zero value is ready to use.
type Options struct {
	// Logger is for engine and store, where their own options name none: see engine.Options and sqlite.Options for
	// what is logged at which level. Nil means that nothing is logged.
	Logger *slog.Logger

	// Account is who is asked for records, for what is worth remembering, and for the provider's own summaries, where
	// Engine.Models names nobody else. Its calls are in the ledger, under the budgets of Engine and at most 24 in ten minutes, five dollars
	// in an hour and twenty in a day. Nil means that no model is asked, and that records quote.
	Account *provider.Account

	// Recall tells a conversation that begins what is remembered of its project, in at most 1,000 tokens, where Engine.Models names
	// nobody else who does.
	Recall bool

	// Budgets returns the budgets that hold for what the account is asked for a tenant, besides those of Engine. Nil means that there
	// are none.
	Budgets func(tenant string) []budget.Budget

	// NoMarkers leaves cache markers to the program. Otherwise a request without markers behind its messages gets some, as
	// long as that saves money: see engine.Adds.Markers. Without markers the provider caches nothing, and each request
	// pays for the whole conversation again. The program's own markers stay. Engine.Adds.Markers does not matter.
	NoMarkers bool

	Engine    engine.Options
	Transport transport.Options
	Store     sqlite.Options // of Open
}

// A DB is a database file of conversations, with the engine that works on it and the HTTP transport that leads to the
// engine. It is safe for concurrent use.
type DB struct {
	engine    *engine.Engine
	store     store.Store
	transport *transport.Transport
}

// Open opens the database file at path, creating it if necessary, and starts an engine on it. The context is for
// opening only. Nil options mean the defaults. Close the DB when the program ends.
func Open(ctx context.Context, path string, opts *Options) (*DB, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Store.Logger = cmp.Or(o.Store.Logger, o.Logger)
	s, err := sqlite.Open(ctx, path, o.Store)
	if err != nil {
		return nil, err
	}
	return New(s, &o)
}

// New starts an engine on a store that is open already; Options.Store does not matter. Nil options mean the defaults.
// The store belongs to the DB from now on, which closes it. If New fails, it has closed the store.
func New(s store.Store, opts *Options) (*DB, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Engine.Logger = cmp.Or(o.Engine.Logger, o.Logger)
	o.Engine.Adds.Markers = !o.NoMarkers
	var e *engine.Engine
	eo, err := o.withModels(s)
	if err == nil {
		e, err = engine.New(s, eo)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start engine: %w", err), s.Close())
	}
	return &DB{engine: e, store: s, transport: transport.New(e, o.Transport)}, nil
}

// Client returns an HTTP client whose requests for messages are managed. All other requests pass
// unchanged.
func (db *DB) Client() *http.Client { return &http.Client{Transport: db.transport} }

// Transport returns the round tripper below Client, for programs that have a client of their own.
func (db *DB) Transport() http.RoundTripper { return db.transport }

// Engine returns the engine, to plan, undo or pin.
func (db *DB) Engine() *engine.Engine { return db.engine }

// Store returns the store, to look at what is kept. It is closed with db.
func (db *DB) Store() store.Store { return db.store }

// Close waits for what is being archived and closes the database.
func (db *DB) Close() error { return errors.Join(db.engine.Close(), db.store.Close()) }
