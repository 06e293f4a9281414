package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
)

// connections are a database file that is open: one connection that writes and a pool of those that read, with what
// holds for all of them.
type connections struct {
	path  string
	forms fs.FS // the folder migrations in it
	dsn   dsn
	key   *seal.Key // nil: nothing is encrypted

	w      *sql.DB // its only connection belongs to the writer
	r      *sql.DB // its connections belong to the pool
	writer *writer // nil: the file is open for reading only
	pool   *pool
	how    sealing
	health health

	mu     sync.RWMutex // held for reading by reads, for writing to close
	closed bool
}

// readOnly reports whether the database was opened for reading only, because it cannot be written.
func (c *connections) readOnly() bool { return c.writer == nil }

// reopen opens the database for reading only, after opening it for writing has failed.
func (c *connections) reopen(ctx context.Context) error {
	err := c.shut()
	*c = connections{path: c.path, forms: c.forms, dsn: c.dsn, key: c.key, health: health{log: c.health.log}}
	return errors.Join(err, c.openReadOnly(ctx))
}

func (c *connections) open(ctx context.Context) (err error) {
	if err = createFile(c.path); err != nil {
		return err
	}
	if err := seclude(c.path); err != nil {
		c.health.log.Warn("every user of this machine can read the database", "error", err)
	}
	if c.r, err = sql.Open("sqlite", c.dsn.read()); err != nil {
		return err
	}
	settled := false
	if info, err := os.Stat(c.path); err != nil || info.Size() > 0 { // an empty file says nothing
		if c.how, settled, err = foresee(ctx, c.r, c.forms, c.key); err != nil {
			return err
		}
	}
	if err = c.openWriter(ctx, settled); err != nil {
		return err
	}
	c.pool = newPool(c.r, c.how, c.dsn.busy)
	c.health.anchorage, err = anchoredAt(c.path)
	return err
}

// openWriter opens the write connection, and upgrades the database if necessary.
func (c *connections) openWriter(ctx context.Context, settled bool) (err error) {
	if c.w, err = sql.Open("sqlite", c.dsn.write()); err != nil {
		return err
	}
	c.w.SetMaxOpenConns(1)
	w, err := newConn(ctx, c.w, c.how)
	if err != nil {
		return err
	}
	setup := c.dsn.setup()
	if err = writable(w); err == nil && !settled {
		c.how, err = settle(ctx, w, c.dsn, c.forms, c.key)
		w.sealing, setup = c.how, ""
	}
	if err == nil {
		c.writer, err = newWriter(ctx, w, setup, c.dsn.busy, c.health.look)
	}
	if err != nil {
		err = errors.Join(err, w.close())
	}
	return err
}

// close waits for the reads and commits under way and closes the database.
func (c *connections) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	shut := c.shut
	if c.health.moved() != nil {
		shut = c.leave
	}
	if err := shut(); err != nil {
		return fmt.Errorf("close database %s: %w", c.path, err)
	}
	return nil
}

// shut closes everything that open opened.
func (c *connections) shut() error {
	var errs []error
	if c.writer != nil {
		errs = append(errs, c.writer.close())
	}
	if c.pool != nil {
		errs = append(errs, c.pool.close())
	}
	if c.r != nil {
		errs = append(errs, c.r.Close())
	}
	if c.w != nil {
		errs = append(errs, c.w.Close())
	}
	return errors.Join(errs...)
}

// leave closes a database whose file was removed or replaced. SQLite would leave its journal in place, and whoever
// opens the new file would take the journal for a part of it. So its content goes to the old file, wherever that is.
func (c *connections) leave() error {
	c.writer.stop()
	err := c.writer.tx.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if err = errors.Join(err, c.shut()); err == nil && logged(c.path) && !c.health.strangers() {
		err = fmt.Errorf("%s belongs to the database that was there before, and other processes use it: end them, then remove it", c.path+journals[0])
	}
	return err
}

// write runs do within a transaction.
func (c *connections) write(ctx context.Context, do func(*tx) error) error {
	return c.change(ctx, false, do)
}

// change runs do within a transaction, alone if that is better.
func (c *connections) change(ctx context.Context, alone bool, do func(*tx) error) error {
	if c.readOnly() {
		return store.ErrReadOnly
	}
	err := c.writer.write(ctx, alone, do)
	c.health.judge(err)
	return err
}
