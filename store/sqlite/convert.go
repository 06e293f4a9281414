package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant/store"
)

// Convert writes a database again: encrypted under the key to, or not encrypted if to is nil. from is the key that
// it has so far, nil for none. With two keys everything is encrypted again, under a new data key. What Check finds wrong
// with it stays wrong, unless it does not decrypt: then the error is store.ErrCorrupt.
//
// If somebody else has it open, the error is store.ErrBusy. The new file is complete and checked before
// it takes the place of the old one in one step; until then nothing has changed. It needs as much room again.
func Convert(ctx context.Context, path string, from, to KeyFunc) error {
	err := convert(ctx, path, from, to)
	if err != nil {
		return fmt.Errorf("convert database %s: %w", path, translate(err))
	}
	return nil
}

func convert(ctx context.Context, path string, from, to KeyFunc) (err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil { // what takes its place must not take that of a link
		return err
	}
	how, known, err := current(ctx, path, from)
	if err != nil {
		return err
	}
	src, err := alone(ctx, path)
	if err != nil {
		return err
	}
	release := sync.OnceValue(src.close)
	defer func() { err = errors.Join(err, release()) }()
	target := path + ".converting"
	if err := discardFiles(target); err != nil { // of an attempt that did not end
		return err
	}
	if err = write(ctx, src, how, target, to); err == nil {
		err = sound(ctx, target, to, known)
	}
	if err == nil {
		err = replace(release, target, path)
	}
	if err != nil {
		return errors.Join(err, discardFiles(target))
	}
	return nil
}

// current opens a database in the usual way, which upgrades its format, and closes it. It returns how its values
// are kept, and what is wrong with it.
func current(ctx context.Context, path string, key KeyFunc) (how sealing, problems []string, err error) {
	db, err := openAs(ctx, path, Options{Key: key}, migrations)
	if err != nil {
		return how, nil, err
	}
	if db.readOnly() {
		err = store.ErrReadOnly
	} else {
		problems, err = db.Check(ctx)
	}
	return db.how, problems, errors.Join(err, db.Close())
}

// alone opens a database exclusively. SQLite ends write-ahead logging only if no other connection has the database
// open, and then everything is in the one file.
func alone(ctx context.Context, path string) (*conn, error) {
	d := newDSN(path, Options{})
	db, err := sql.Open("sqlite", d.with(500*time.Millisecond))
	if err != nil {
		return nil, err
	}
	c, err := newConn(ctx, db, sealing{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	c.owner = db
	var mode string
	for _, statement := range []string{"PRAGMA journal_mode = delete", "PRAGMA locking_mode = exclusive", "BEGIN EXCLUSIVE", "PRAGMA journal_mode"} {
		if err := c.QueryRowContext(ctx, statement).Scan(&mode); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, errors.Join(inUse(err), c.close())
		}
	}
	if mode != "delete" {
		return nil, errors.Join(inUse(store.ErrBusy), c.close())
	}
	return c, nil
}

// inUse says what to do about a database that others have open.
func inUse(err error) error {
	if err = translate(err); errors.Is(err, store.ErrBusy) {
		return fmt.Errorf("another process has it open: stop the gateway and whatever else uses it: %w", err)
	}
	return err
}

// write writes the new database.
func write(ctx context.Context, src *conn, from sealing, path string, key KeyFunc) error {
	to, _, err := current(ctx, path, key) // makes it
	if err != nil {
		return err
	}
	dst, err := sql.Open("sqlite", newDSN(path, Options{}).with(0, "_pragma=journal_mode(off)", "_pragma=synchronous(off)"))
	if err != nil {
		return err
	}
	dst.SetMaxOpenConns(1)
	tx, err := dst.BeginTx(ctx, nil)
	if err == nil {
		x := copier{src: src, dst: tx, from: from, to: to}
		err = x.all(ctx)
	}
	if err == nil {
		err = tx.Commit()
	}
	return errors.Join(err, dst.Close())
}

// sound insists on a database without faults but those that are known.
func sound(ctx context.Context, path string, key KeyFunc, known []string) error {
	_, problems, err := current(ctx, path, key)
	problems = slices.DeleteFunc(problems, func(p string) bool { return slices.Contains(known, p) })
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%w: %d problems, the first of which is: %s", store.ErrCorrupt, len(problems), problems[0])
	}
	return err
}

// replace puts the new file in the place of the old one, which stays locked until it is released.
func replace(release func() error, from, to string) error {
	old, err := os.Stat(to)
	if err != nil {
		return err
	}
	if err := flush(from); err != nil {
		return err
	}
	if err := os.Chmod(from, old.Mode().Perm()); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // a file that is open cannot be replaced there
		if err := release(); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	return flush(filepath.Dir(to))
}

// flush waits until a file or a folder is on the disk.
func flush(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// discardFiles removes a database.
func discardFiles(path string) error {
	var errs []error
	for _, end := range append([]string{"", "-journal"}, journals[:]...) {
		if err := os.Remove(path + end); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
