package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/storetest"
	"github.com/decantdev/decant/testing/testkit"
)

func TestStore(t *testing.T) {
	testStore(t, sqlite.Options{})
}

// TestEncryptedStore has an encrypted store do all that a store does.
func TestEncryptedStore(t *testing.T) {
	testStore(t, sqlite.Options{Key: key(t, "01").Secret})
}

// TestCoreAlone guards that the suite asks nothing of a store beyond the parts that it has.
func TestCoreAlone(t *testing.T) {
	testkit.NeedFull(t, "a store without the other parts passes the suite")
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "decant.db")
		return func(t *testing.T) store.Core { return struct{ store.Core }{open(t, path)} }
	})
}

// testStore runs the suite of all stores.
func testStore(t *testing.T, o sqlite.Options) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "decant.db")
		return func(t *testing.T) store.Core { return openAs(t, path, o) }
	})
}

// secret returns what gives a key to a database, nil for no key.
func secret(k *seal.Key) sqlite.KeyFunc {
	if k == nil {
		return nil
	}
	return k.Secret
}

// key returns a key that is made of one byte, in hexadecimal.
func key(t testing.TB, octet string) *seal.Key {
	t.Helper()
	k, err := seal.ParseKey(strings.Repeat(octet, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func open(t testing.TB, path string) *sqlite.Database {
	t.Helper()
	return openAs(t, path, sqlite.Options{})
}

// openAs opens a database. One that is not there yet begins as a copy of one that is empty: making the tables takes longer
// than most tests.
func openAs(t testing.TB, path string, o sqlite.Options) *sqlite.Database {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if data := empty(t, o.Key); os.MkdirAll(filepath.Dir(path), 0o700) == nil {
			must(t, os.WriteFile(path, data, 0o600))
		}
	}
	return openNew(t, path, o)
}

// empties are the empty databases so far, by their key.
var empties sync.Map

// empty returns the file of an empty database.
func empty(t testing.TB, k sqlite.KeyFunc) []byte {
	t.Helper()
	id := ""
	if k != nil {
		secret, err := k()
		must(t, err)
		id = string(secret)
	}
	if data, ok := empties.Load(id); ok {
		return data.([]byte)
	}
	path := filepath.Join(t.TempDir(), "empty.db")
	must(t, openNew(t, path, sqlite.Options{Key: k}).Close())
	data, err := os.ReadFile(path)
	must(t, err)
	empties.Store(id, data)
	return data
}

// openNew opens a database, and makes one where none is.
func openNew(t testing.TB, path string, o sqlite.Options) *sqlite.Database {
	t.Helper()
	db, err := sqlite.OpenDatabase(t.Context(), path, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
