package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// A KeyFunc returns the key of an encrypted database: 32 random bytes, which are not stored in it. It is a function
// and not a value so that options can be printed without revealing a key.
type KeyFunc func() ([]byte, error)

// KeyFile reads the key from a file, as 64 hexadecimal digits or in base64. A file that everybody on the machine can
// read is an error.
func KeyFile(name string) KeyFunc {
	return func() ([]byte, error) {
		k, err := seal.ReadKey(name)
		if err != nil {
			return nil, err
		}
		return k.Secret()
	}
}

// key returns the key, nil if nothing is encrypted.
func (f KeyFunc) key() (*seal.Key, error) {
	if f == nil {
		return nil, nil
	}
	secret, err := f()
	if err != nil {
		return nil, fmt.Errorf("get the key: %w", err)
	}
	return seal.NewKey(secret)
}

// keyFunc returns what gives a key to Open, nil for no key.
func keyFunc(k *seal.Key) KeyFunc {
	if k == nil {
		return nil
	}
	return k.Secret
}

// foresee returns how the values of a database are kept that may be of another form, before anything is written to it.
// settled reports whether it can be used as it is.
func foresee(ctx context.Context, r *sql.DB, forms fs.FS, key *seal.Key) (how sealing, settled bool, err error) {
	_, form := readable(ctx, r, forms)
	if form != nil {
		var told int
		err = r.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'encryption'").Scan(&told)
		if err != nil {
			return how, false, fmt.Errorf("look for its tables: %w", err)
		}
		if told == 0 {
			return how, false, nil
		}
	}
	if how, err = howKept(ctx, r, key); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return how, false, err
	}
	switch {
	case errors.Is(form, store.ErrNewer):
		return how, false, form
	case form != nil || err != nil:
		return how, false, nil
	}
	var mode string
	err = r.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	return how, mode == "wal", err
}

// howKept returns how the values of a database are kept. Before that is decided, the error is sql.ErrNoRows.
func howKept(ctx context.Context, r rower, key *seal.Key) (sealing, error) {
	var wrapped []byte
	var id string
	if err := r.QueryRowContext(ctx, "SELECT data_key, key FROM encryption").Scan(&wrapped, &id); err != nil {
		return sealing{}, fmt.Errorf("read whether it is encrypted: %w", err)
	}
	return unlock(wrapped, id, key)
}

// unlock opens a box with a key. No wrapped data key means that nothing is encrypted.
func unlock(wrapped []byte, id string, key *seal.Key) (sealing, error) {
	switch {
	case len(wrapped) == 0 && key == nil:
		return sealing{}, nil
	case len(wrapped) == 0:
		return sealing{}, store.ErrUnsealed
	case key == nil:
		return sealing{}, fmt.Errorf("%w: it needs the key %s", store.ErrSealed, id)
	}
	box, err := seal.Unwrap(wrapped, key)
	switch {
	case err != nil && id != key.ID():
		return sealing{}, fmt.Errorf("%w: it needs the key %s, this one is %s", store.ErrWrongKey, id, key.ID())
	case err != nil:
		return sealing{}, fmt.Errorf("its data key cannot be used: %w: %w", store.ErrCorrupt, err)
	}
	return sealing{box}, nil
}

// decide is howKept for a database that may be new: whoever opens one first decides whether it is encrypted.
func decide(ctx context.Context, c *conn, key *seal.Key) (sealing, error) {
	s, err := howKept(ctx, c, key)
	if !errors.Is(err, sql.ErrNoRows) {
		return s, err
	}
	var wrapped []byte
	var id string
	if key != nil {
		wrapped, id = seal.NewBox().Wrap(key), key.ID()
	}
	if _, err = c.ExecContext(ctx, "INSERT INTO encryption (one, data_key, key) VALUES (1, ?, ?)", form.NonNil(wrapped), id); err != nil {
		return s, fmt.Errorf("store whether it is encrypted: %w", err)
	}
	return unlock(wrapped, id, key)
}

// Rotate changes the key of an encrypted database from one to another, at once and while others use the database.
// The old key no longer opens this file. It still opens earlier copies, and whoever knew the data key still knows it:
// see Convert. A database that is not encrypted is store.ErrUnsealed.
func Rotate(ctx context.Context, path string, from, to KeyFunc) error {
	key, err := to.key()
	if key == nil && err == nil {
		err = errors.New("no key to change to; Convert decrypts")
	}
	if err != nil {
		return fmt.Errorf("change the key of %s: %w", path, err)
	}
	db, err := openAs(ctx, path, Options{Key: from}, migrations)
	if err != nil {
		return err
	}
	return errors.Join(wrap("change the key of "+path, db.rewrap(ctx, key)), db.Close())
}

// rewrap wraps the data key under another outside key.
func (db *database) rewrap(ctx context.Context, to *seal.Key) error {
	if db.how.box == nil {
		return store.ErrUnsealed
	}
	err := db.write(ctx, func(t *tx) error {
		if err := t.exec("PRAGMA secure_delete = on"); err != nil {
			return err
		}
		err := t.exec("UPDATE encryption SET data_key = ?, key = ?", db.how.box.Wrap(to), to.ID())
		return errors.Join(err, t.exec("PRAGMA secure_delete = off"))
	})
	if err == nil {
		// If readers are always active, what the old key opens stays in the log until the log starts over.
		if err = db.writer.outside(ctx, truncateLog); errors.Is(err, store.ErrBusy) {
			err = nil
		}
	}
	return err
}
