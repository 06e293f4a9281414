package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A database is what a service needs of its store.
type database interface {
	engine.Store
	store.Keyring
	io.Closer
	Ping(context.Context) error
}

// survivable are the states of a database in which an agent need not stand still: its requests are forwarded.
var survivable = []error{store.ErrCorrupt, store.ErrNewer, store.ErrReadOnly, store.ErrFull}

// openDatabase opens the database of a service. One that cannot be used stops no agent: then requests are forwarded as
// they come, and log, answers and /readyz say why. That a path is wrong is an error.
func openDatabase(ctx context.Context, path string, log *slog.Logger) (database, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Notice: func(text string) { log.Error(text) }})
	for _, state := range survivable {
		if errors.Is(err, state) {
			log.Error("requests are forwarded as they come, and nothing of them is kept, until the database is repaired and decant started again", "error", err.Error())
			return store.Failed{Err: err}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if db.ReadOnly() {
		log.Error("the database must not be written: what it holds is used, nothing is added to it, and requests are forwarded without new decisions", "db", path)
	}
	return db, nil
}
