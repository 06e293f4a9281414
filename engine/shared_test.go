package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
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

// small is the default preset with a third of its sizes: what is decided about conversations of a third of the size is the
// same, and an engine's work is in proportion to the size. Who changes it changes a copy.
var small = sync.OnceValue(func() *preset.Preset {
	p, err := preset.Load("default")
	if err != nil {
		panic(err)
	}
	for _, first := range []*preset.Trim{&p.Reduce.First, p.CheapReads.First} {
		first.Over, first.Head, first.Tail = first.Over/3, first.Head/3, first.Tail/3
	}
	early := p.EarlyPours.Settled()
	early.Least, early.QuoteMost, early.Names, early.Target = early.Least/3, early.QuoteMost/3, early.Names/3, early.Target/3
	p.EarlyPours = early
	return p
})

// symbols returns a text of about so many tokens that is short: such characters are nearly a token each.
func symbols(tokens int) string { return strings.Repeat("{}[]();:,.", tokens/8) }

// bulky returns a result of about so many tokens that has some lines.
func bulky(id string, tokens int) string { return output(id, 40) + symbols(tokens-1400) + "\n" }

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
func emptyStore(t testing.TB) store.Store {
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
