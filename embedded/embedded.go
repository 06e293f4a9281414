// Package embedded gives a Go program all of Decant in one line: an engine, a store in one file, and
// an HTTP client for the program's SDK.
//
//	d, err := embedded.Open("agent.db")
//	...
//	client := anthropic.NewClient(option.WithHTTPClient(d.Client()))
//
// From there on the program works as before. Its conversations outlive their windows: when one grows
// too large, the client sends less of it, and the file keeps all of it.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/transport"
)

// Options configures what Open makes. The zero value is ready to use.
type Options struct {
	Engine    engine.Options
	Transport transport.Options
	Store     sqlite.Options
}

// Decant is an engine with its store and its transport. It is safe for concurrent use.
type Decant struct {
	engine    *engine.Engine
	store     *sqlite.DB
	transport *transport.Transport
}

// Open opens the database file at path, creating it if need be, and starts an engine on it. Options
// are the first of opts; more are ignored. Close it when the program ends.
func Open(path string, opts ...Options) (*Decant, error) {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	db, err := sqlite.Open(context.Background(), path, o.Store)
	if err != nil {
		return nil, err
	}
	e, err := engine.New(db, o.Engine)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start engine: %w", err), db.Close())
	}
	return &Decant{engine: e, store: db, transport: transport.New(e, o.Transport)}, nil
}

// Client returns an HTTP client whose requests for messages are managed. It may be used for
// anything else too.
func (d *Decant) Client() *http.Client { return &http.Client{Transport: d.transport} }

// Transport returns the round tripper below Client, for programs that have a client of their own.
func (d *Decant) Transport() http.RoundTripper { return d.transport }

// Engine returns the engine, to plan, undo or pin.
func (d *Decant) Engine() *engine.Engine { return d.engine }

// Store returns the store, to look at what is kept. It belongs to d.
func (d *Decant) Store() store.Store { return d.store }

// Close waits for what is being archived and closes the database.
func (d *Decant) Close() error { return errors.Join(d.engine.Close(), d.store.Close()) }
