package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// nextForm is what a later version may make of the database: another column, of which it fills what it knows, another
// index, and a table that is laid out anew.
const nextForm = `
ALTER TABLE conversations ADD COLUMN title TEXT NOT NULL DEFAULT '';
UPDATE conversations SET title = id;
CREATE INDEX conversations_title ON conversations (tenant, title);
ALTER TABLE findings RENAME TO old_findings;
CREATE TABLE findings (
    upstream     TEXT    NOT NULL,
    organization TEXT    NOT NULL,
    topic        TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    value        TEXT    NOT NULL,
    PRIMARY KEY (upstream, organization, topic)
) WITHOUT ROWID;
INSERT INTO findings (upstream, organization, topic, time, value) SELECT upstream, organization, topic, time, value FROM old_findings;
DROP TABLE old_findings;
`

// told makes a database in which everything is that a store has, and returns its path with what the store returns.
func told(t *testing.T, k *seal.Key) (path string, want map[string]any) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "decant.db")
	db := openAs(t, path, sqlite.Options{Key: secret(k)})
	_, err := tell(t.Context(), db, "one")
	must(t, err)
	must(t, history(t.Context(), db))
	must(t, pouredHistory(t.Context(), db))
	must(t, db.Close())
	return path, picture(t, path, k)
}

// openNext opens a database as a program that knows the next form.
func openNext(t *testing.T, path string, o sqlite.Options) *sqlite.Database {
	t.Helper()
	db, err := sqlite.OpenNext(t.Context(), path, o, nextForm)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// TestTheNextFormKeepsEverything guards that a database can be brought to another form: whoever knows that finds
// everything as it was and goes on, whoever does not know it leaves the database alone.
func TestTheNextFormKeepsEverything(t *testing.T) {
	for name, k := range map[string]*seal.Key{"InClear": nil, "Encrypted": key(t, "01")} {
		t.Run(name, func(t *testing.T) {
			path, want := told(t, k)
			for range 2 { // it is done once
				db := openNext(t, path, sqlite.Options{Key: secret(k)})
				unchanged(t, want, pictureIn(t, db))
				if got := db.Row(t, "PRAGMA user_version", 1); got != "2" {
					t.Errorf("form %s, want 2", got)
				}
				must(t, db.Close())
			}
			_, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{Key: secret(k)})
			if !errors.Is(err, store.ErrNewer) {
				t.Errorf("a program that does not know its form: %v, want ErrNewer", err)
			}
			db := openNext(t, path, sqlite.Options{Key: secret(k)})
			must(t, (&line{Key: store.Key{ID: "new"}}).commit(t.Context(), db))
			if _, err := db.Search(t.Context(), store.Query{Text: "message"}); err != nil {
				t.Errorf("search: %v", err)
			}
			if c, err := db.GC(t.Context(), store.Policy{Now: time.Now(), MaxAge: time.Hour, DryRun: true}); err != nil {
				t.Errorf("what would be collected: %+v, %v", c, err)
			}
		})
	}
}

// TestAKeyThatDoesNotFitChangesNoForm guards that the form of a database stays for whoever cannot open it.
func TestAKeyThatDoesNotFitChangesNoForm(t *testing.T) {
	path, want := told(t, nil)
	for range 2 {
		if _, err := sqlite.OpenNext(t.Context(), path, sqlite.Options{Key: key(t, "01").Secret}, nextForm); !errors.Is(err, store.ErrUnsealed) {
			t.Errorf("open with a key: %v, want ErrUnsealed", err)
		}
	}
	unchanged(t, want, picture(t, path, nil))
}

// TestManyBringADatabaseToTheNextForm has many open a database at once that must be brought up to date.
func TestManyBringADatabaseToTheNextForm(t *testing.T) {
	path, want := told(t, nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			db, err := sqlite.OpenNext(t.Context(), path, sqlite.Options{}, nextForm)
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	unchanged(t, want, pictureIn(t, openNext(t, path, sqlite.Options{})))
}

// TestAMigrationThatFailsChangesNothing guards that a database keeps its form when a later one cannot be made of it.
func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path, want := told(t, nil)
	if _, err := sqlite.OpenNext(t.Context(), path, sqlite.Options{}, nextForm+"INSERT INTO nowhere VALUES (1);"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("open: %v", err)
	}
	unchanged(t, want, picture(t, path, nil))
}

// TestAFormIsMadeWhenNobodyWrites guards that whoever must bring a database up to date waits for another process as
// long as he was told, and no longer.
func TestAFormIsMadeWhenNobodyWrites(t *testing.T) {
	path, _ := told(t, nil)
	release := open(t, path).Hold(t)
	_, err := sqlite.OpenNext(t.Context(), path, sqlite.Options{Opening: time.Millisecond}, nextForm)
	if !errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), "must be upgraded") {
		t.Errorf("while another process writes: %v, want ErrBusy", err)
	}
	opened := make(chan error)
	go func() {
		db, err := sqlite.OpenNext(t.Context(), path, sqlite.Options{Opening: time.Hour}, nextForm)
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	release()
	if err := <-opened; err != nil {
		t.Errorf("when it has ended: %v", err)
	}
}

// TestReadOnlyKnowsItsForm guards that a database which cannot be written is read only in the form that it should have.
func TestReadOnlyKnowsItsForm(t *testing.T) {
	path, _ := told(t, nil)
	if _, err := sqlite.OpenReadOnlyNext(t.Context(), path, nextForm); !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "must be upgraded to") {
		t.Errorf("one of an earlier form: %v, want ErrReadOnly", err)
	}
	must(t, openNext(t, path, sqlite.Options{}).Close())
	if _, err := sqlite.OpenReadOnly(t.Context(), path); !errors.Is(err, store.ErrNewer) {
		t.Errorf("one of a later form: %v, want ErrNewer", err)
	}
	db, err := sqlite.OpenReadOnlyNext(t.Context(), path, nextForm)
	must(t, err)
	must(t, db.Close())
}

// TestMakingThatWasCutOffBeginsAnew opens what is left when whoever made a database was killed within its transaction.
func TestMakingThatWasCutOffBeginsAnew(t *testing.T) {
	from, path := filepath.Join(t.TempDir(), "decant.db"), filepath.Join(t.TempDir(), "decant.db")
	maker, err := sql.Open("sqlite", from)
	must(t, err)
	defer maker.Close()
	maker.SetMaxOpenConns(1)
	_, err = maker.Exec("PRAGMA cache_size = 1; BEGIN; CREATE TABLE cut (data BLOB); INSERT INTO cut VALUES (zeroblob(1000000))")
	must(t, err)
	for _, end := range []string{"", "-journal"} {
		data, err := os.ReadFile(from + end)
		must(t, err)
		if len(data) == 0 {
			t.Fatalf("%s is empty: the test shows nothing", from+end)
		}
		must(t, os.WriteFile(path+end, data, 0o600))
	}
	db := openNew(t, path, sqlite.Options{})
	must(t, (&line{Key: store.Key{ID: "conv"}}).commit(t.Context(), db))
	if n := db.Row(t, "SELECT count(*) FROM sqlite_schema WHERE name = 'cut'", 1); n != "0" {
		t.Error("a part of the transaction is there")
	}
}
