package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/decantdev/decant/store"
)

// unwritable reports whether an error means that a file or its folder must not be written.
func unwritable(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_CANTOPEN {
		return true
	}
	return errors.Is(translate(err), store.ErrReadOnly) || errors.Is(err, fs.ErrPermission)
}

// writable returns an error when SQLite could open the file for reading only.
func writable(c *conn) error {
	return c.Raw(func(d any) error {
		only, err := d.(interface{ IsReadOnly(string) (bool, error) }).IsReadOnly("main")
		if err == nil && only {
			err = store.ErrReadOnly
		}
		return err
	})
}

// openReadOnly opens a database that must not be written: what it holds can be read all the same. Where not even the
// files can be made that readers need, no other process can write either, and the file is read as it is.
func (c *connections) openReadOnly(ctx context.Context) (err error) {
	if info, err := os.Stat(c.path); err != nil {
		return err
	} else if info.Size() == 0 {
		return fmt.Errorf("it is empty: %w", store.ErrReadOnly)
	}
	for _, c.dsn.only = range []string{"mode=ro", "immutable=1"} {
		if c.dsn.only != "mode=ro" && logged(c.path) {
			return fmt.Errorf("its newest commits are in %s, which cannot be read where nothing can be written: copy both to another folder: %w", c.path+journals[0], store.ErrReadOnly)
		}
		if c.r, err = sql.Open("sqlite", c.dsn.read()); err != nil {
			return err
		}
		if _, err = readable(ctx, c.r, c.forms); err == nil || !unwritable(err) {
			break
		}
		err = errors.Join(err, c.r.Close())
	}
	if err != nil {
		return err
	}
	if c.how, err = howKept(ctx, c.r, c.key); errors.Is(err, sql.ErrNoRows) {
		c.how, err = unlock(nil, "", c.key) // it is not decided, and cannot be
	}
	if err != nil {
		return err
	}
	c.pool = newPool(c.r, c.how, c.dsn.busy)
	return nil
}

// logged reports whether there are commits that have not reached the database file.
func logged(path string) bool {
	info, err := os.Stat(path + journals[0])
	return err == nil && info.Size() > 0
}
