package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// A faulty is a database on a disk that fails, with what was acknowledged.
type faulty struct {
	path string
	key  *seal.Key
	kept *line // a conversation that operations leave or append to
}

// old is the id of a conversation that operations delete.
const old = "old"

// An operation is what a disk fails in.
type operation struct {
	name  string
	alone bool // it opens the database itself: db is nil
	do    func(ctx context.Context, db store.Store, x *faulty) error

	// done returns an error where what do did is not in the database.
	done func(ctx context.Context, db store.Store, x *faulty) error
}

var operations = []operation{
	{"commit of messages and a decision", false, func(ctx context.Context, db store.Store, x *faulty) error {
		for range 3 {
			if err := x.kept.commit(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}, nothing},
	{"archive", false, func(ctx context.Context, db store.Store, x *faulty) error {
		_, err := tell(ctx, db.(*sqlite.Database), "archived")
		return err
	}, func(ctx context.Context, db store.Store, _ *faulty) error {
		keys, err := db.TenantKeys(ctx)
		if err == nil && len(keys) != 1 {
			err = fmt.Errorf("%d keys", len(keys))
		}
		return err
	}},
	{"index", false, func(ctx context.Context, db store.Store, _ *faulty) error {
		for {
			if n, err := db.Index(ctx, 2); err != nil || n == 0 {
				return err
			}
		}
	}, func(ctx context.Context, db store.Store, _ *faulty) error {
		hits, err := db.Search(ctx, store.Query{Text: "message 3 of kept"})
		if err == nil && len(hits) == 0 {
			err = errors.New("a message is not found")
		}
		return err
	}},
	{"gc", false, func(ctx context.Context, db store.Store, _ *faulty) error {
		_, err := db.GC(ctx, store.Policy{Now: time.Now(), MaxAge: 24 * time.Hour})
		return err
	}, gone},
	{"forget", false, func(ctx context.Context, db store.Store, _ *faulty) error {
		_, err := db.Forget(ctx, store.Forgetting{Conversations: []string{old}})
		return err
	}, gone},
	{"encryption", true, func(ctx context.Context, _ store.Store, x *faulty) error {
		k, err := seal.ParseKey(strings.Repeat("01", seal.KeySize))
		if err != nil {
			return err
		}
		if err := sqlite.Convert(ctx, x.path, nil, secret(k)); err != nil {
			return err
		}
		x.key = k
		return nil
	}, nothing},
	{"first opening", true, func(ctx context.Context, _ store.Store, x *faulty) error {
		x.path += ".new"
		x.kept = newLine()
		db, err := sqlite.Open(ctx, x.path, sqlite.Options{SurvivePowerLoss: true})
		if err != nil {
			return err
		}
		return errors.Join(x.kept.commit(ctx, db), db.Close())
	}, nothing},
}

func nothing(context.Context, store.Store, *faulty) error { return nil }

// gone returns an error where the old conversation is still there.
func gone(ctx context.Context, db store.Store, _ *faulty) error {
	if _, err := db.Load(ctx, store.Key{ID: old}, store.Newest); !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("the old conversation is still there: %v", err)
	}
	return nil
}

func newLine() *line { return &line{Key: store.Key{ID: "kept"}, size: 3000} }

// prepared returns the bytes of a database with two conversations, and the newer one.
func prepared(t *testing.T) ([]byte, line) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "decant.db")
	past := openAs(t, path, sqlite.Options{Now: func() time.Time { return time.Now().Add(-100 * time.Hour) }})
	l := &line{Key: store.Key{ID: old}, size: 300}
	for range 3 {
		must(t, l.commit(t.Context(), past))
	}
	must(t, past.Close())
	db, kept := open(t, path), newLine()
	for range 5 {
		must(t, kept.commit(t.Context(), db))
	}
	must(t, db.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	return data, *kept
}

// TestDisksThatFail lets each call to the disk fail, one after the other, in each operation: alone, or with all that
// follow it, as when power is lost. Then what was not synced is gone, or some of it. What was acknowledged is in the
// database afterwards, which has no faults, and the operation can be carried out again.
func TestDisksThatFail(t *testing.T) {
	data, kept := prepared(t)
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			step := testkit.Depth(97, 1)
			for _, power := range []bool{false, true} {
				points := 0
				for n := 1 + rand.IntN(step); ; n += step {
					x, hit := failOnce(t, data, kept, n, power, op)
					if !hit {
						break
					}
					points++
					if t.Failed() {
						t.Fatalf("call %d failed, power lost: %v, database %s", n, power, x.path)
					}
				}
				t.Logf("power lost: %v: %d points", power, points)
			}
		})
	}
}

// failOnce carries an operation out while the n-th call to the disk fails, and checks what is left. It reports whether
// there was such a call.
func failOnce(t *testing.T, data []byte, kept line, n int, power bool, op operation) (*faulty, bool) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	must(t, err)
	x := &faulty{path: filepath.Join(dir, "decant.db"), kept: &kept}
	must(t, os.WriteFile(x.path, data, 0o600))
	d := &disk{dir: dir, fail: n, power: power}
	d.use(t)
	err = carryOut(t.Context(), x, op.alone, op.do)
	d.leave()
	if power && d.failed() {
		var chance *rand.Rand
		if n%2 == 0 {
			chance = rand.New(rand.NewPCG(uint64(n), 1))
		}
		d.lose(t, chance)
	}
	db := x.healthy(t)
	defer db.Close()
	problems, fault := db.Check(t.Context())
	if fault != nil || len(problems) > 0 {
		t.Errorf("problems %q, %v", problems, fault)
	}
	if fault := x.kept.verify(t.Context(), db, x.kept.version); fault != nil && x.kept.version > 0 {
		t.Error(fault)
	}
	if err == nil {
		must(t, op.done(t.Context(), db, x))
	}
	must(t, (&line{Key: store.Key{ID: "next"}, size: 10}).commit(t.Context(), db))
	must(t, os.RemoveAll(dir))
	return x, d.failed()
}

// carryOut carries an operation out, on a database that it opens if the operation does not do so itself.
func carryOut(ctx context.Context, x *faulty, alone bool, do func(context.Context, store.Store, *faulty) error) error {
	if alone {
		return do(ctx, nil, x)
	}
	db, err := sqlite.Open(ctx, x.path, sqlite.Options{SurvivePowerLoss: true})
	if err != nil {
		return err
	}
	err = do(ctx, db, x)
	_ = db.Close() // what was acknowledged does not depend on it
	return err
}

// healthy opens the database on a disk without faults. An operation that has failed may have encrypted it or not.
func (x *faulty) healthy(t *testing.T) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), x.path, sqlite.Options{Key: secret(x.key)})
	if errors.Is(err, store.ErrSealed) && x.key == nil {
		db, err = sqlite.Open(t.Context(), x.path, sqlite.Options{Key: secret(key(t, "01"))})
	}
	must(t, err)
	return db
}
