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
// Lost commits are not lost conversations: a client's next request brings its messages again.
//
// The blobs that a commit brings are compressed together, with S2, when that makes them smaller. The
// text index is FTS5 without a copy of the text. Index or the first search fills it.
//
// With a key ([Options.Key]) all content is encrypted, see package seal; columns.go names the columns. No word of it
// is on the disk then: a search reads everything and builds its index in memory.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/seal"
)

// Options configures a DB. The zero value is ready to use.
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

// DB is a store in one SQLite file.
type DB struct {
	path  string
	forms fs.FS // the folder migrations in it
	now   func() time.Time
	dsn   dsn
	key   *seal.Key // nil: nothing is encrypted

	w      *sql.DB // its only connection belongs to the writer
	r      *sql.DB // its connections belong to the pool
	writer *writer
	pool   *pool
	how    sealing
	health health

	mu     sync.RWMutex // held for reading by reads, for writing to close
	closed bool
}

var _ store.Store = (*DB)(nil)

// Open opens the database file at path and upgrades its format if necessary. It creates a missing
// file (mode 0600) and its folder (mode 0700). Use DefaultPath for the user's own database.
//
// A file that cannot be written is opened for reading only; changes then fail with store.ErrReadOnly. If everybody can
// read the file, Open removes that permission. It returns store.ErrCorrupt for a file that is damaged or not a Decant
// database, and store.ErrNewer for one of a later version. For an encrypted database without the right key it returns
// store.ErrSealed or store.ErrWrongKey; for an unencrypted one with a key, store.ErrUnsealed. In these cases it has
// changed nothing.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	return openAs(ctx, path, o, migrations)
}

// openAs is Open with the forms that a database has had.
func openAs(ctx context.Context, path string, o Options, forms fs.FS) (*DB, error) {
	key, err := o.Key.key()
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db := &DB{path: path, forms: forms, now: o.Now, key: key}
	if db.now == nil {
		db.now = time.Now
	}
	if db.health.log = o.Logger; o.Logger == nil {
		db.health.log = slog.New(slog.DiscardHandler)
	}
	db.dsn = newDSN(path, o)
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

// reopen opens the database for reading only, after opening it for writing has failed.
func (db *DB) reopen(ctx context.Context) error {
	err := db.shut()
	*db = DB{path: db.path, forms: db.forms, now: db.now, dsn: db.dsn, key: db.key, health: health{log: db.health.log}}
	return errors.Join(err, db.openReadOnly(ctx))
}

func (db *DB) open(ctx context.Context) (err error) {
	if err = createFile(db.path); err != nil {
		return err
	}
	if err := seclude(db.path); err != nil {
		db.health.log.Warn("the database is open to everybody", "error", err)
	}
	if db.r, err = sql.Open("sqlite", db.dsn.read()); err != nil {
		return err
	}
	settled := false
	if info, err := os.Stat(db.path); err != nil || info.Size() > 0 { // an empty file says nothing
		if db.how, settled, err = foresee(ctx, db.r, db.forms, db.key); err != nil {
			return err
		}
	}
	if err = db.openWriter(ctx, settled); err != nil {
		return err
	}
	db.pool = newPool(db.r, db.how, db.dsn.busy)
	db.health.anchorage, err = anchoredAt(db.path)
	return err
}

// openWriter opens the write connection, and does what must be done before the database can be used.
func (db *DB) openWriter(ctx context.Context, settled bool) (err error) {
	if db.w, err = sql.Open("sqlite", db.dsn.write()); err != nil {
		return err
	}
	db.w.SetMaxOpenConns(1)
	c, err := newConn(ctx, db.w, db.how)
	if err != nil {
		return err
	}
	setup := db.dsn.setup()
	if err = writable(c); err == nil && !settled {
		db.how, err = settle(ctx, c, setup, db.forms, db.key)
		c.sealing, setup = db.how, ""
	}
	if err == nil {
		db.writer, err = newWriter(ctx, c, setup, db.dsn.busy, db.health.look)
	}
	if err != nil {
		err = errors.Join(err, c.close())
	}
	return err
}

// Close waits for the reads and commits under way and closes the database.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
	shut := db.shut
	if db.health.moved() != nil {
		shut = db.leave
	}
	if err := shut(); err != nil {
		return fmt.Errorf("close database %s: %w", db.path, err)
	}
	return nil
}

// shut closes everything that open opened.
func (db *DB) shut() error {
	var errs []error
	if db.writer != nil {
		errs = append(errs, db.writer.close())
	}
	if db.pool != nil {
		errs = append(errs, db.pool.close())
	}
	if db.r != nil {
		errs = append(errs, db.r.Close())
	}
	if db.w != nil {
		errs = append(errs, db.w.Close())
	}
	return errors.Join(errs...)
}

// leave closes a database whose file was removed or replaced. SQLite would leave its journal in place, and whoever
// opens the new file would take the journal for a part of it. So its content goes to the old file, wherever that is.
func (db *DB) leave() error {
	db.writer.stop()
	err := db.writer.tx.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if err = errors.Join(err, db.shut()); err == nil && logged(db.path) && !db.health.strangers() {
		err = fmt.Errorf("%s belongs to the database that was there before, and others use it: end them, and remove it", db.path+journals[0])
	}
	return err
}

// write runs do within a transaction.
func (db *DB) write(ctx context.Context, do func(*tx) error) error {
	return db.change(ctx, false, do)
}

// change runs do within a transaction, alone if that is better.
func (db *DB) change(ctx context.Context, alone bool, do func(*tx) error) error {
	if db.ReadOnly() {
		return store.ErrReadOnly
	}
	err := db.writer.write(ctx, alone, do)
	db.health.judge(err)
	return err
}

// wrap adds the step to an error, and translates the error into one of package store.
func wrap(step string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", step, translate(err))
}
