// Package sqlite is the embedded store: one SQLite file, no server.
//
// Writes go through one connection. Commits that arrive while another is being written are
// coalesced into the next transaction, each within a savepoint of its own, so that one that
// conflicts undoes nothing of its neighbours. Reads have a pool of connections and never wait for
// a write. Several processes may share the file.
//
// The journal is a write-ahead log with synchronous NORMAL: what a commit acknowledged has been
// handed to the operating system and survives the death of the process at any moment, kill -9
// included. A power failure may lose the newest commits, never the database;
// [Options.SurvivePowerLoss] closes that gap for the price of a disk flush in each transaction.
// Lost commits are not lost conversations: a client's next request contains its messages again.
//
// The blobs that a commit adds are compressed together, with S2, when that makes them smaller. The
// text index is FTS5 without a copy of the text. Index or the first search fills it.
//
// With a key ([Options.Key]) all content is encrypted, see package seal; columns.go names the columns. No word of it
// is on the disk then: a search reads everything and builds its index in memory.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/decantdev/decant/store"
)

// Options configures what Open opens. The zero value is ready to use.
type Options struct {
	// SurvivePowerLoss flushes the disk in each transaction (synchronous FULL), so that a commit
	// survives a power failure too.
	SurvivePowerLoss bool

	// Busy is how long a write waits for another process. Zero means 10 seconds.
	Busy time.Duration

	// Opening is how long Open waits for another process if the database's format must be upgraded. After that it
	// fails with store.ErrBusy. Zero means Busy.
	Opening time.Duration

	// Now returns the current time. Nil means time.Now.
	Now func() time.Time

	// Key returns the key that encrypts the database and opens an encrypted one. A new database is encrypted from
	// the beginning; Convert encrypts an existing one. Nil means that nothing is encrypted.
	Key KeyFunc

	// Logger gets what operators should know: an error if the file has gone, a warning if everybody can read it, and a
	// warning when it is back. Nil means that nothing is logged.
	Logger *slog.Logger
}

// A database is a store in one SQLite file.
type database struct {
	connections
	now func() time.Time
}

var _ store.Store = (*database)(nil)

// Open opens the database file at path and upgrades its format if necessary. It creates a missing
// file (mode 0600) and its folder (mode 0700).
//
// A file that cannot be written is opened for reading only; changes then fail with store.ErrReadOnly. If everybody can
// read the file, Open removes that permission. It returns store.ErrCorrupt for a file that is damaged or not a Decant
// database, and store.ErrNewer for one of a later version. For an encrypted database without the right key it returns
// store.ErrSealed or store.ErrWrongKey; for an unencrypted one with a key, store.ErrUnsealed. In these cases it has
// changed nothing.
func Open(ctx context.Context, path string, o Options) (store.Store, error) {
	db, err := openAs(ctx, path, o, migrations)
	if err != nil {
		return nil, err // and no store.Store that is nil in an interface that is not
	}
	return db, nil
}

// openAs is Open with the given migrations.
func openAs(ctx context.Context, path string, o Options, forms fs.FS) (*database, error) {
	key, err := o.Key.key()
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db := &database{now: o.Now, connections: connections{path: path, forms: forms, key: key, dsn: newDSN(path, o)}}
	if db.now == nil {
		db.now = time.Now
	}
	if db.health.log = o.Logger; o.Logger == nil {
		db.health.log = slog.New(slog.DiscardHandler)
	}
	err = db.open(ctx)
	if err != nil && unwritable(err) {
		if only := db.reopen(ctx); only == nil || !errors.Is(only, fs.ErrNotExist) {
			err = only
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, errors.Join(translate(err), db.shut()))
	}
	return db, nil
}

// Close waits for the reads and commits under way and closes the database.
func (db *database) Close() error { return db.close() }

// wrap adds the step to an error, and translates the error into one of package store.
func wrap(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", step, translate(err))
}
