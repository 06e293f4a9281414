package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// filled makes a database with a conversation of n commits and closes it.
func filled(t *testing.T, path string, n int) *line {
	t.Helper()
	db := open(t, path)
	l := &line{Key: store.Key{ID: "conv"}, size: 2000}
	for range n {
		if err := l.commit(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestFileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // files have no such modes there
	}
	dir := filepath.Join(t.TempDir(), "data", "decant")
	db := open(t, filepath.Join(dir, "decant.db"))
	l := &line{Key: store.Key{ID: "conv"}}
	if err := l.commit(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), filepath.Join(dir, "backup.db")); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %s is %o, want %o", path, got, want)
		}
		return nil
	})
	if err != nil || files < 3 {
		t.Errorf("found %d files, %v; want the database, its journal and the backup", files, err)
	}
}

func TestPathsWithSpecialCharacters(t *testing.T) {
	for _, name := range []string{"a b.db", "what?.db", "50%.db", "#1.db", "a&b=c.db", "数据.db"} {
		path := filepath.Join(t.TempDir(), name)
		filled(t, path, 1)
		if _, err := os.Stat(path); err != nil {
			t.Errorf("database %q: %v", name, err)
		}
	}
}

func TestMigratesEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	filled(t, path, 1)
}

func TestNewerFormIsErrNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	db.Pragma(t, "PRAGMA user_version = 999")
	db.Close()
	_, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), path) {
		t.Errorf("a database of a later version: got %v, want ErrNewer with the path", err)
	}
}

func TestOtherFileIsErrCorrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	before := []byte(strings.Repeat("this is a letter, not a database. ", 1000))
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want ErrCorrupt with the path", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestDamagedPagesAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	l := filled(t, path, 600)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	damage := bytes.Repeat([]byte{0xa5}, 4096)
	for at := info.Size() / 2 / 4096 * 4096; at < info.Size(); at += 3 * 4096 {
		if _, err := f.WriteAt(damage, at); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	db := open(t, path)
	if err := l.verify(t.Context(), db, 600); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("reading damaged pages: got %v, want ErrCorrupt", err)
	}
	problems, err := db.Check(t.Context())
	if len(problems) == 0 {
		t.Errorf("check of a damaged file found nothing (%v)", err)
	}
}

func TestCheckFindsWhatIsMissing(t *testing.T) {
	for name, damage := range map[string]string{
		"blob":         "DELETE FROM blobs WHERE pack = (SELECT min(id) FROM packs)",
		"entry":        "DELETE FROM segments WHERE version = 2",
		"link":         "DELETE FROM chains WHERE position = 2",
		"reference":    "UPDATE packs SET conversation = 'other' WHERE id = (SELECT min(id) FROM packs)",
		"content":      "UPDATE packs SET codec = 0, data = x'00' WHERE id = (SELECT max(id) FROM packs)",
		"pack":         "DELETE FROM packs WHERE id = (SELECT max(id) FROM packs)",
		"name":         "UPDATE packs SET names = names || names WHERE id = (SELECT max(id) FROM packs)",
		"conversation": "DELETE FROM conversations",
		"hold":         "DELETE FROM holds",
		"held blob":    "UPDATE holds SET hashes = hashes || x'000102030405060708090a0b0c0d0e0f'",
	} {
		path := filepath.Join(t.TempDir(), "decant.db")
		l := filled(t, path, 3)
		db := open(t, path)
		if _, err := db.Commit(t.Context(), l.again("other")); err != nil {
			t.Fatal(err)
		}
		if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("before the damage: %v, %v", problems, err)
		}
		db.Pragma(t, damage)
		problems, err := db.Check(t.Context())
		if err != nil || len(problems) == 0 {
			t.Errorf("a missing %s: %v, %v; want it reported", name, problems, err)
		}
	}
}

func TestFullDiskIsErrFull(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	l := &line{Key: store.Key{ID: "conv"}, size: 20_000}
	if err := l.commit(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	db.Pragma(t, "PRAGMA max_page_count = 60")
	var err error
	for err == nil {
		err = l.commit(t.Context(), db)
	}
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("commit to a full disk: got %v, want ErrFull", err)
	}
	if err := l.verify(t.Context(), db, l.version); err != nil {
		t.Errorf("after the commit that did not fit: %v", err)
	}
	db.Pragma(t, "PRAGMA max_page_count = 100000")
	if err := l.commit(t.Context(), db); err != nil {
		t.Errorf("the same commit when there is space again: %v", err)
	}
}

func TestFullDiskLosesNothingAcknowledged(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	db.Pragma(t, "PRAGMA max_page_count = 200")
	lines := make([]*line, 8)
	var wg sync.WaitGroup
	for i := range lines {
		l := &line{Key: store.Key{ID: fmt.Sprint("conv", i)}, size: 3000 << (i % 3)}
		lines[i] = l
		wg.Go(func() {
			var err error
			for err == nil { // all commits of a transaction fail together if the disk fills up at its end
				err = l.commit(t.Context(), db)
			}
			if !errors.Is(err, store.ErrFull) {
				t.Errorf("%s: got %v, want ErrFull", l.ID, err)
			}
		})
	}
	wg.Wait()
	db.Pragma(t, "PRAGMA max_page_count = 100000")
	for _, l := range lines {
		if l.version == 0 {
			continue
		}
		if err := l.verify(t.Context(), db, l.version); err != nil {
			t.Errorf("%s: %v", l.ID, err)
		}
		if err := l.commit(t.Context(), db); err != nil {
			t.Errorf("%s, when there is space again: %v", l.ID, err)
		}
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}

func TestReadOnlyIsErrReadOnly(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	l := &line{Key: store.Key{ID: "conv"}}
	if err := l.commit(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	db.Pragma(t, "PRAGMA query_only = 1")
	if err := l.commit(t.Context(), db); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
	if err := l.verify(t.Context(), db, 1); err != nil {
		t.Errorf("reading goes on: %v", err)
	}
}

func TestBackupIsADatabase(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "decant.db"), filepath.Join(dir, "it's a backup.db")
	l := filled(t, path, 10)
	db := open(t, path)
	if err := db.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := l.commit(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	copied := open(t, backup)
	if err := l.verify(t.Context(), copied, 10); err != nil {
		t.Error(err)
	}
	if problems, err := copied.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check of the backup: %v, %v", problems, err)
	}
}

func TestUnwritableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.OpenDatabase(t.Context(), filepath.Join(file, "decant.db"), sqlite.Options{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a folder that cannot be made: got %v, want an error with the path", err)
	}
}

func TestBusyIsErrBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	other, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{Busy: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	release := db.Hold(t)
	l := &line{Key: store.Key{ID: "conv"}}
	if err := l.commit(t.Context(), other); !errors.Is(err, store.ErrBusy) {
		t.Errorf("commit while another process writes: got %v, want ErrBusy", err)
	}
	release()
	if err := l.commit(t.Context(), other); err != nil {
		t.Errorf("commit when it has ended: %v", err)
	}
}

// TestNobodyWaitsForAnotherProcessLongerThanHeCan guards that a commit whose caller has gone while another process
// writes is never made.
func TestNobodyWaitsForAnotherProcessLongerThanHeCan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db, other := open(t, path), open(t, path)
	release := other.Hold(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone, stays := &line{Key: store.Key{ID: "gone"}}, &line{Key: store.Key{ID: "stays"}}
	ended := make(chan error)
	go func() { ended <- gone.commit(ctx, db) }()
	done := make(chan error)
	go func() { done <- stays.commit(t.Context(), db) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	release()
	if err := <-done; err != nil {
		t.Errorf("the commit that goes on waiting: %v", err)
	}
	if _, err := db.Version(t.Context(), gone.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what nobody waited for any longer was committed: %v", err)
	}
}

// TestReadsInTurnShareAConnection guards that a connection is opened only where none is idle.
func TestReadsInTurnShareAConnection(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	for range 5 {
		_, err := db.Tenants(t.Context())
		must(t, err)
	}
	if n := db.Idle(); n != 1 {
		t.Errorf("reads one after the other have opened %d connections, want 1", n)
	}
}
