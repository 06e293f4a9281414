package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A serviceStore is the database of a service.
type serviceStore struct {
	store.Store
	failed   error // why it cannot be opened: everything fails with it; nil: it is open
	readOnly bool  // it was opened for reading only
}

// survivable are the states of a database that need not stop an agent: its requests are forwarded.
var survivable = []error{store.ErrCorrupt, store.ErrNewer, store.ErrReadOnly, store.ErrFull, store.ErrBusy, store.ErrUnreachable}

// The messages when a database cannot be used.
const (
	forwarding = "the database cannot be used; until it can, requests are forwarded unchanged and nothing is stored"
	readsOnly  = "the database is read-only: stored decisions apply, new ones are not made, and nothing is stored"
)

// opening is how long to wait for a database that another process has locked, before requests are forwarded.
const opening = 2 * time.Second

// openService opens the database of a service. A database that cannot be used stops no agent: requests are forwarded
// unchanged, and log, answers and /readyz say why. A wrong path is an error. A wrong key is one too, because otherwise
// text that should be encrypted would be stored in clear.
func openService(ctx context.Context, c *config.Config, path string, log *slog.Logger) (*serviceStore, error) {
	db, err := tryService(ctx, c, path, log)
	for _, state := range survivable {
		if errors.Is(err, state) {
			log.Error(forwarding, "error", err.Error())
			return failedStore(err), nil
		}
	}
	return db, err
}

// failedStore returns what takes the place of a database that cannot be opened.
func failedStore(err error) *serviceStore {
	return &serviceStore{Store: store.Failed(err), failed: err}
}

// tryService opens a database, with the key that is in its file now.
func tryService(ctx context.Context, c *config.Config, path string, log *slog.Logger) (*serviceStore, error) {
	db, err := setup.OpenWith(ctx, c, path, sqlite.Options{Opening: opening, Logger: log})
	if err != nil {
		return nil, err
	}
	readOnly := errors.Is(db.Ping(ctx), store.ErrReadOnly)
	if readOnly {
		log.Error(readsOnly, "db", config.ShowDB(path))
	}
	return &serviceStore{Store: db, readOnly: readOnly}, nil
}
