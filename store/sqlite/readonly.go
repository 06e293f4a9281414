package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

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

// openReadOnly opens a database that must not be written: what it holds can be read all the same. Where not even the
// files can be made that readers need, nobody else can write either, and the file is read as it is.
func (db *DB) openReadOnly(ctx context.Context) (err error) {
	if info, err := os.Stat(db.path); err != nil {
		return err
	} else if info.Size() == 0 {
		return fmt.Errorf("it is empty: %w", store.ErrReadOnly)
	}
	for _, db.dsn.only = range []string{"mode=ro", "immutable=1"} {
		if db.dsn.only != "mode=ro" && logged(db.path) {
			return fmt.Errorf("its newest commits are in %s, which cannot be read where nothing can be written: copy both to another folder: %w", db.path+journals[0], store.ErrReadOnly)
		}
		if db.r, err = sql.Open("sqlite", db.dsn.read()); err != nil {
			return err
		}
		if err = readable(ctx, db.r, db.forms); err == nil || !unwritable(err) {
			break
		}
		err = errors.Join(err, db.r.Close())
	}
	if err != nil {
		return err
	}
	if db.how, err = howKept(ctx, db.r, db.key); errors.Is(err, sql.ErrNoRows) {
		db.how, err = unlock(nil, "", db.key) // nobody has decided, and nobody can
	}
	if err != nil {
		return err
	}
	db.pool = newPool(db.r, db.how)
	return nil
}

// logged reports whether there are commits that have not reached the database file.
func logged(path string) bool {
	info, err := os.Stat(path + journals[0])
	return err == nil && info.Size() > 0
}

// readable reports whether a database can be read as it is: whether it has the newest of the forms.
func readable(ctx context.Context, r *sql.DB, forms fs.FS) error {
	var have int64
	if err := r.QueryRowContext(ctx, "SELECT COALESCE(max(version_id), 0) FROM goose_db_version").Scan(&have); err != nil {
		return fmt.Errorf("read the version: %w", err)
	}
	switch known := newestForm(forms); {
	case have > known:
		return fmt.Errorf("its form has version %d, this program knows %d: %w", have, known, store.ErrNewer)
	case have < known:
		return fmt.Errorf("its form has version %d and must be brought to %d: copy it to where it can be written: %w", have, known, store.ErrReadOnly)
	}
	return nil
}

// newestForm returns the version that migrations lead to.
func newestForm(forms fs.FS) (newest int64) {
	files, _ := fs.ReadDir(forms, "migrations") // part of the program
	for _, f := range files {
		digits, _, _ := strings.Cut(f.Name(), "_")
		n, _ := strconv.ParseInt(digits, 10, 64)
		newest = max(newest, n)
	}
	return newest
}
