package sqlite_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// A database that must not be written can be read: what one has kept can be taken away.
func TestReadOnlyDatabaseCanBeRead(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"closed": func(*testing.T, string) {},
		"in use": func(t *testing.T, path string) { open(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "decant.db")
			l := filled(t, path, 5)
			prepare(t, path)
			db, err := sqlite.OpenReadOnly(t.Context(), path)
			must(t, err)
			readsAll(t, db, l, path)
			must(t, db.Close())
		})
	}
}

// readsAll reads a database in every way, and makes sure that it cannot be written.
func readsAll(t *testing.T, db *sqlite.Database, l *line, path string) {
	t.Helper()
	ctx := t.Context()
	must(t, l.verify(ctx, db, 5))
	problems, err := db.Check(ctx)
	if err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	hits, err := db.Search(ctx, store.Query{Text: `"message 3 of"`})
	if err != nil || len(hits) == 0 || hits[0].Entry.Message != 3 {
		t.Errorf("search, with texts that are not indexed: %v, %v", hits, err)
	}
	must(t, db.Backup(ctx, path+".copy"))
	if problems, err := open(t, path+".copy").Check(ctx); err != nil || len(problems) > 0 {
		t.Errorf("check of the backup: %v, %v", problems, err)
	}
	for what, err := range map[string]error{
		"commit": (&line{Key: store.Key{ID: "new"}}).commit(ctx, db), "record": db.Record(ctx, l.Key, &store.Events{}), "ping": db.Ping(ctx),
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: got %v, want ErrReadOnly", what, err)
		}
	}
}

// The file system says so, not the caller.
func TestFileThatMustNotBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("whoever runs this test may write everything")
	}
	for name, folder := range map[string]os.FileMode{"file": 0o700, "file and folder": 0o500} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "decant.db")
			l := filled(t, path, 5)
			must(t, os.Chmod(path, 0o400))
			must(t, os.Chmod(filepath.Dir(path), folder))
			t.Cleanup(func() { os.Chmod(filepath.Dir(path), 0o700) })
			db := open(t, path)
			if err := db.Ping(t.Context()); !errors.Is(err, store.ErrReadOnly) {
				t.Fatalf("it was opened for writing: %v", err)
			}
			readsAll(t, db, l, filepath.Join(t.TempDir(), "x"))
		})
	}
}

// What is written to a file that is no longer there is lost: nothing is acknowledged that is.
func TestDatabaseThatIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	for name, do := range map[string]func(path string) error{
		"removed": func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		},
		"its log is removed": func(path string) error { return os.Remove(path + "-wal") },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "decant.db")
			var said []string
			db, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{Logger: testkit.Log(func(_ slog.Level, line string) { said = append(said, line) })})
			must(t, err)
			defer db.Close()
			l := &line{Key: store.Key{ID: "conv"}}
			must(t, l.commit(t.Context(), db))
			must(t, do(path))
			for range 3 {
				if err := l.commit(t.Context(), db); !errors.Is(err, store.ErrMoved) {
					t.Errorf("a commit that is lost was acknowledged: %v", err)
				}
			}
			if err := db.Ping(t.Context()); !errors.Is(err, store.ErrMoved) {
				t.Errorf("ping: %v", err)
			}
			if len(said) != 1 || !strings.Contains(said[0], path) {
				t.Errorf("said %q, want one line that names the file", said)
			}
		})
	}
}

// A file that was moved away and has come back is the one that was opened.
func TestDatabaseThatComesBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	l := &line{Key: store.Key{ID: "conv"}}
	must(t, l.commit(t.Context(), db))
	must(t, os.Rename(path, path+".away"))
	if err := l.commit(t.Context(), db); !errors.Is(err, store.ErrMoved) {
		t.Errorf("while it is away: %v", err)
	}
	must(t, os.Rename(path+".away", path))
	must(t, l.commit(t.Context(), db))
	must(t, db.Ping(t.Context()))
}

func TestFilesThatEverybodyCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes there")
	}
	for mode, want := range map[os.FileMode]os.FileMode{0o666: 0o600, 0o644: 0o600, 0o660: 0o660, 0o600: 0o600} {
		path := filepath.Join(t.TempDir(), "decant.db")
		first := open(t, path) // its journals are there while it is open
		must(t, (&line{Key: store.Key{ID: "conv"}}).commit(t.Context(), first))
		for _, end := range []string{"", "-wal", "-shm"} {
			must(t, os.Chmod(path+end, mode))
		}
		open(t, path)
		for _, end := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(path + end); err != nil || info.Mode().Perm() != want {
				t.Errorf("decant.db%s had mode %o: got %v, %v, want %o", end, mode, info.Mode().Perm(), err, want)
			}
		}
	}
}

func TestLinkThatLeadsNowhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes there")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target.db"), filepath.Join(dir, "decant.db")
	must(t, os.Symlink(target, link))
	open(t, link)
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file at its end: %v, %v", info, err)
	}
}

// What was written to a database before another took its place is no part of that one, and that one's journal is
// nobody else's to remove.
func TestClosingADatabaseInWhosePlaceAnotherStands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	for name, ends := range map[string][]string{"alone": {""}, "with its journal": {"", "-wal", "-shm"}} {
		t.Run(name, func(t *testing.T) {
			path, other := filepath.Join(t.TempDir(), "decant.db"), filepath.Join(t.TempDir(), "other.db")
			db, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{})
			must(t, err)
			must(t, (&line{Key: store.Key{ID: "old"}}).commit(t.Context(), db))
			second, err := sqlite.OpenDatabase(t.Context(), other, sqlite.Options{})
			must(t, err)
			defer second.Close()
			must(t, (&line{Key: store.Key{ID: "new"}}).commit(t.Context(), second))
			if len(ends) == 1 {
				must(t, second.Close())
			}
			for _, end := range ends {
				must(t, os.Rename(other+end, path+end))
			}
			must(t, db.Close())
			now := open(t, path)
			cs, err := now.Conversations(t.Context(), store.Filter{})
			if err != nil || len(cs) != 1 || cs[0].ID != "new" {
				t.Errorf("conversations %+v, %v; want the one of the new database", cs, err)
			}
			if problems, err := now.Check(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("check: %v, %v", problems, err)
			}
		})
	}
}
