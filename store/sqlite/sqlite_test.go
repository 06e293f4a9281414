package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/racetest"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/seal"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "decant.db")
		return func(t *testing.T) store.Store { return open(t, path) }
	})
}

// TestEncryptedStore has an encrypted store do all that a store does.
func TestEncryptedStore(t *testing.T) {
	racetest.SkipSequential(t)
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path, key := filepath.Join(t.TempDir(), "decant.db"), key(t, "01")
		return func(t *testing.T) store.Store { return openAs(t, path, sqlite.Options{Key: key}) }
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
