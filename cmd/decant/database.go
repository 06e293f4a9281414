package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
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

// survivable are the states of a database that need not stop an agent: its requests are forwarded.
var survivable = []error{store.ErrCorrupt, store.ErrNewer, store.ErrReadOnly, store.ErrFull, store.ErrBusy}

// The messages when a database cannot be used.
const (
	forwarding = "requests are forwarded as they come, and nothing of them is kept, until the database can be used"
	readsOnly  = "the database must not be written: what it holds is used, nothing is added to it, and requests are forwarded without new decisions"
)

// opening is how long to wait for a database that another process has locked, before requests are forwarded.
const opening = 2 * time.Second

// openDatabase opens the database of a service. A database that cannot be used stops no agent: requests are forwarded
// unchanged, and log, answers and /readyz say why. A wrong path is an error. A wrong key is one too, because otherwise
// text that should be encrypted would be stored in clear.
func openDatabase(ctx context.Context, c *config.Config, path string, log *slog.Logger) (database, error) {
	db, err := tryDatabase(ctx, c, path, log)
	for _, state := range survivable {
		if errors.Is(err, state) {
			log.Error(forwarding, "error", err.Error())
			return store.Failed{Err: err}, nil
		}
	}
	return db, err
}

// tryDatabase opens a database, with the key that is in its file now.
func tryDatabase(ctx context.Context, c *config.Config, path string, log *slog.Logger) (database, error) {
	db, err := openStore(ctx, c, path, sqlite.Options{Opening: opening, Logger: log})
	if err != nil {
		return nil, err
	}
	if db.ReadOnly() {
		log.Error(readsOnly, "db", path)
	}
	return db, nil
}
