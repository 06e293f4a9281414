package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/seal"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/store/storetest"
)

func TestStore(t *testing.T) {
	testStore(t, sqlite.Options{})
}

// TestEncryptedStore has an encrypted store do all that a store does.
func TestEncryptedStore(t *testing.T) {
	testStore(t, sqlite.Options{Key: key(t, "01")})
}

// testStore runs the suite of all stores. Each of its many databases is a copy of one that is empty.
func testStore(t *testing.T, o sqlite.Options) {
	empty := filepath.Join(t.TempDir(), "empty.db")
	must(t, openAs(t, empty, o).Close())
	data, err := os.ReadFile(empty)
	must(t, err)
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "decant.db")
		must(t, os.WriteFile(path, data, 0o600))
		return func(t *testing.T) store.Store { return openAs(t, path, o) }
	})
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

func open(t testing.TB, path string) *sqlite.DB {
	t.Helper()
	return openAs(t, path, sqlite.Options{})
}

func openAs(t testing.TB, path string, o sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
