package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/token"
)

// catalog is the built-in catalogue. It never changes, so that all engines and providers share one.
var catalog = sync.OnceValue(func() *token.Catalog {
	c, err := token.Builtin()
	if err != nil {
		panic(err)
	}
	return c
})

// newSandbox returns a provider.
func newSandbox(o sandbox.Options) *sandbox.Server {
	o.Catalog = catalog()
	return sandbox.New(o)
}

// emptyDatabase is the content of a database that holds nothing. Making one costs many times what a copy does.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "decant-empty")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "decant.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// emptyFile makes a database that holds nothing in a folder and returns its path.
func emptyFile(dir string) (path string, err error) {
	data, err := emptyDatabase()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "decant.db")
	return path, os.WriteFile(path, data, 0o600)
}

// emptyStore returns a store with nothing in it.
func emptyStore(t testing.TB) *sqlite.DB {
	t.Helper()
	path, err := emptyFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
