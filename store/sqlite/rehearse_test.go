package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A dry run works on a copy, so it waits for nobody's commit and nobody for it; of the copy nothing is left.
func TestADryRunIsInNobodysWay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "decant.db")
	db, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, id := range []string{"one", "two"} {
		l := &line{Key: store.Key{ID: id}, size: 100}
		if _, err := db.Commit(t.Context(), l.next()); err != nil {
			t.Fatal(err)
		}
	}
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	done, err := db.GC(t.Context(), store.Policy{Now: time.Now().Add(time.Hour), MaxAge: time.Minute, DryRun: true})
	if err != nil || len(done.Conversations) != 2 {
		t.Fatalf("%v, %v; want two conversations, while another process writes", done, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if f.IsDir() {
			t.Errorf("%s is left", f.Name())
		}
	}
}
