package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// TestRequestsReadAsMuchOfALargeStore counts the pages that each step of a request, and what stands behind /readyz,
// reads: of a store with ten times as many conversations no more, but for a level of its trees.
func TestRequestsReadAsMuchOfALargeStore(t *testing.T) {
	few := testkit.Depth(80, 300)
	small, large := pages(t, few), pages(t, 10*few)
	for name, n := range large {
		if most := 2*small[name] + 8; n > most {
			t.Errorf("%s reads %d pages of a store with %d conversations and %d with %d", name, small[name], few, n, 10*few)
		}
	}
}

// pages returns how many pages each of the steps of a request reads that has n conversations beside it, all of
// them of clients that name no session.
func pages(t *testing.T, n int) map[string]int {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	talks := crowd(t, db, n)
	ctx, l := t.Context(), talks[n/2]
	now := time.Unix(1_800_000_000, 0)
	out := map[string]int{}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"version", func() error { _, err := db.Version(ctx, l.Key); return err }},
		{"match what is new", func() error { _, err := db.Match(ctx, "", "", []decant.Hash{decant.HashText("new")}); return err }},
		{"match what goes on", func() error {
			_, err := db.Match(ctx, "", "", []decant.Hash{l.chain, decant.HashText("on")})
			return err
		}},
		{"load", func() error { _, err := db.Load(ctx, l.Key, store.Newest); return err }},
		{"standing", func() error { _, err := db.Standing(ctx, l.Key, 4); return err }},
		{"spent today", func() error { _, err := db.Spent(ctx, store.SpendQuery{Since: now}); return err }},
		{"spent there", func() error { _, err := db.Spent(ctx, store.SpendQuery{Conversation: l.ID}); return err }},
		{"commit", func() error { return l.commit(ctx, db) }},
		{"book", func() error { return book(t, db, l, now) }},
		{"ready", func() error { return db.Ping(ctx) }},
		{"tenants", func() error { _, err := db.Tenants(ctx); return err }},
		{"the last five", func() error { _, err := db.Conversations(ctx, store.Filter{Limit: 5}); return err }},
	} {
		must(t, step.do()) // prepares its statements
		before := db.Pages(t)
		must(t, step.do())
		out[step.name] = db.Pages(t) - before
	}
	return out
}

// book books a request of a conversation.
func book(t *testing.T, db *sqlite.Database, l *line, now time.Time) error {
	id := fmt.Sprint("r-", l.ID, "-", db.Pages(t))
	return db.Record(t.Context(), l.Key, &store.Events{
		Requests: []store.Request{{ID: id, Time: now, Length: int(l.version), Status: 200}},
		Spends:   []store.Spend{{ID: id, Time: now, Model: "m", Usage: decant.Usage{Input: 10, Output: 2}, Cost: 7}},
	})
}

// crowd makes n conversations in one session and books a request of each.
func crowd(t *testing.T, db *sqlite.Database, n int) []*line {
	t.Helper()
	talks := make([]*line, n)
	now := time.Unix(1_800_000_000, 0)
	var wg sync.WaitGroup
	for first := range 32 {
		wg.Go(func() {
			for i := first; i < n; i += 32 {
				talks[i] = &line{Key: store.Key{ID: fmt.Sprint("conv-", i)}, size: 300}
				b := talks[i].next()
				b.Create.Session = ""
				b.Events.Spends = []store.Spend{{ID: "s-" + b.ID, Time: now, Model: "m", Usage: decant.Usage{Input: 10}, Cost: 7}}
				if _, err := db.Commit(t.Context(), b); err != nil {
					t.Error(err)
					return
				}
				talks[i].version, talks[i].chain = 1, b.Entries[0].Chain
			}
		})
	}
	wg.Wait()
	return talks
}

// TestCollectingTakesNoLongerForEach counts the pages that gc looks at for each conversation, all of which hold one
// block: of ten times as many it is no more for each.
func TestCollectingTakesNoLongerForEach(t *testing.T) {
	few := testkit.Depth(30, 60)
	per := func(n int) int {
		db := open(t, filepath.Join(t.TempDir(), "decant.db"))
		for _, l := range crowd(t, db, n) {
			must(t, db.Record(t.Context(), l.Key, &store.Events{
				Blobs:    [][]byte{[]byte("what everybody sends")},
				Requests: []store.Request{{ID: "r", Time: time.Unix(1, 0), Length: 1, Frame: decant.HashText("what everybody sends")}},
			}))
		}
		before := db.Pages(t)
		c, err := db.GC(t.Context(), store.Policy{Now: time.Now().Add(time.Hour), MaxAge: time.Minute})
		if err != nil || len(c.Conversations) != n {
			t.Fatalf("gc removed %d of %d conversations, %v", len(c.Conversations), n, err)
		}
		return (db.Pages(t) - before) / n
	}
	if small, large := per(few), per(10*few); large > 2*small {
		t.Errorf("gc looks at %d pages for each of %d conversations, and at %d for each of %d", small, few, large, 10*few)
	}
}
