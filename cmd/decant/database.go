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

// survivable are the states of a database in which an agent need not stand still: its requests are forwarded.
var survivable = []error{store.ErrCorrupt, store.ErrNewer, store.ErrReadOnly, store.ErrFull, store.ErrBusy}

// What is said when a database cannot be used.
const (
	forwarding = "requests are forwarded as they come, and nothing of them is kept, until the database can be used"
	readsOnly  = "the database must not be written: what it holds is used, nothing is added to it, and requests are forwarded without new decisions"
)

// opening is how long a database is waited for that another process has locked, before requests are forwarded.
const opening = 2 * time.Second

// openDatabase opens the database of a service. One that cannot be used stops no agent: then requests are forwarded as
// they come, and log, answers and /readyz say why. That a path is wrong is an error, and that a key is: nothing is kept in
// clear that was to be encrypted.
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
