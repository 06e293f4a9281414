package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
)

// rival begins the names of children that write to the same conversations.
const rival = "rival"

// shared are the conversations that rivals write to.
var shared = []string{"one", "two"}

// works is how many pieces of work about a conversation rivals claim.
const works = 20

// A deed is what a rival did: it began and ended at times of one clock for all processes.
type deed struct {
	Op           string // "commit", "load" or "claim"
	Conversation string
	Began, Ended int64
	Version      int64  // that a commit made or a load saw; 0: the commit was refused
	Said         string // what a commit adds, or what a claim is for
	First        bool
}

// monotonic returns the time in nanoseconds since the machine was started.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// compete is what a rival does: commits, loads and claims, in two goroutines, each printed as a line of JSON.
func compete(db store.Store, name string, limit int) error {
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	errs := make(chan error, 2)
	for i := range 2 {
		go func() {
			who, seen := fmt.Sprintf("%s-%d", name, i), map[string]*store.State{}
			for n := range limit {
				d, err := oneDeed(db, seen, fmt.Sprintf("%s-%d", who, n))
				if err == nil {
					mu.Lock()
					err = out.Encode(d)
					mu.Unlock()
				}
				if err != nil {
					errs <- fmt.Errorf("%s: %w", who, err)
					return
				}
			}
			errs <- nil
		}()
	}
	return errors.Join(<-errs, <-errs)
}

// oneDeed does one thing. Half of the commits follow a state that was seen some time ago.
func oneDeed(db store.Store, seen map[string]*store.State, said string) (_ *deed, err error) {
	ctx := context.Background()
	d := &deed{Conversation: shared[rand.IntN(len(shared))], Said: said}
	k := store.Key{ID: d.Conversation}
	if seen[k.ID] == nil || rand.IntN(2) == 0 {
		if seen[k.ID], err = db.Load(ctx, k, store.Newest); err != nil {
			return nil, err
		}
	}
	switch rand.IntN(4) {
	case 0:
		d.Op, d.Began = "load", monotonic()
		if seen[k.ID], err = db.Load(ctx, k, store.Newest); err == nil {
			d.Version = seen[k.ID].Version
		}
	case 1:
		d.Op, d.Said, d.Began = "claim", fmt.Sprint("work ", rand.IntN(works)), monotonic()
		d.First, err = db.Claim(ctx, k, d.Said, time.Unix(1_800_000_000, 0))
	default:
		d.Op, d.Began = "commit", monotonic()
		d.Version, err = db.Commit(ctx, addition(k, seen[k.ID], said))
		if errors.Is(err, store.ErrConflict) {
			d.Version, err = 0, nil
		}
	}
	d.Ended = monotonic()
	return d, err
}

// addition returns the commit of one message behind a state.
func addition(k store.Key, s *store.State, said string) *store.Batch {
	chain := decant.Hash{}
	if n := len(s.Chain); n > 0 {
		chain = s.Chain[n-1].Chain
	}
	raw := `{"type":"text","text":"` + said + `"}`
	e := store.Entry{Chain: decant.HashText(chain.String() + said), Raw: decant.HashText(raw), Text: decant.HashText(said), Role: decant.RoleUser,
		Kind: decant.KindText, Ref: decant.Ref{Message: len(s.Chain) + 1}, Tokens: 3}
	return &store.Batch{Key: k, Version: s.Version, Entries: []store.Entry{e}, Blobs: [][]byte{[]byte(raw), []byte(said)}}
}

// TestRivals has several processes write to the same conversations, and checks the history of what they were told.
// Commits are linearisable: each has a version of its own, one that ended before another began comes before it, and a
// load sees what was acknowledged before. Each piece of work is claimed once.
func TestRivals(t *testing.T) {
	const processes = 2
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	for _, id := range shared {
		b := addition(store.Key{ID: id}, &store.State{}, "begin "+id)
		b.Create = &store.Creation{Session: id}
		_, err := db.Commit(t.Context(), b)
		must(t, err)
	}
	var all []deed
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range processes {
		c, out := start(t, path, fmt.Sprint(rival, i), testkit.Depth(60, 1500))
		wg.Go(func() {
			for out.Scan() {
				var d deed
				if err := json.Unmarshal(out.Bytes(), &d); err != nil {
					t.Errorf("a rival said %q", out.Text())
				}
				mu.Lock()
				all = append(all, d)
				mu.Unlock()
			}
			if err := c.Wait(); err != nil {
				t.Errorf("rival %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for _, id := range shared {
		s, err := db.Load(t.Context(), store.Key{ID: id}, store.Newest)
		must(t, err)
		checkHistory(t, id, s, all)
	}
	problems, err := db.Check(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("problems %q, %v", problems, err)
	}
}

// checkHistory checks what was said of one conversation, whose state in the end is s.
func checkHistory(t *testing.T, id string, s *store.State, all []deed) {
	t.Helper()
	made := map[int64]*deed{} // by version
	refused, loads, claimed, tried := 0, 0, map[string]int{}, map[string]bool{}
	said := map[decant.Hash]int64{}
	for i, e := range s.Chain {
		said[e.Text] = int64(i + 1)
	}
	for i := range all {
		d := &all[i]
		switch {
		case d.Conversation != id:
		case d.Op == "claim":
			tried[d.Said] = true
			if d.First {
				claimed[d.Said]++
			}
		case d.Op == "load":
			loads++
		case d.Version == 0:
			if refused++; said[decant.HashText(d.Said)] != 0 {
				t.Errorf("%s: %s was refused and is in the conversation", id, d.Said)
			}
		case made[d.Version] != nil:
			t.Errorf("%s: %s and %s both made version %d", id, d.Said, made[d.Version].Said, d.Version)
		default:
			if made[d.Version] = d; said[decant.HashText(d.Said)] != d.Version {
				t.Errorf("%s: %s made version %d and is entry %d", id, d.Said, d.Version, said[decant.HashText(d.Said)])
			}
		}
	}
	if int64(len(made)+1) != s.Version || s.Version != int64(len(s.Chain)) {
		t.Errorf("%s: %d commits were acknowledged, the version is %d with %d entries", id, len(made)+1, s.Version, len(s.Chain))
	}
	for work := range tried {
		if claimed[work] != 1 {
			t.Errorf("%s: %s was claimed %d times", id, work, claimed[work])
		}
	}
	inTime(t, id, made, all)
	if refused == 0 || loads == 0 || len(tried) == 0 {
		t.Errorf("%s: %d commits were refused, %d loads, %d claims: the test shows nothing", id, refused, loads, len(tried))
	}
}

// inTime checks that commits and loads of a conversation took effect between their beginning and their end.
func inTime(t *testing.T, id string, made map[int64]*deed, all []deed) {
	t.Helper()
	earliest := int64(1 << 62) // end of any later commit
	for v := int64(len(made) + 1); v > 1; v-- {
		d := made[v]
		if d == nil {
			return // said already
		}
		if earliest < d.Began {
			t.Errorf("%s: version %d began after a later one had ended", id, v)
		}
		earliest = min(earliest, d.Ended)
	}
	for i := range all {
		if d := &all[i]; d.Op == "load" && d.Conversation == id {
			if next := made[d.Version+1]; next != nil && next.Ended < d.Began {
				t.Errorf("%s: a load saw version %d after version %d was acknowledged", id, d.Version, d.Version+1)
			}
			if seen := made[d.Version]; seen != nil && seen.Began > d.Ended {
				t.Errorf("%s: a load saw version %d before its commit began", id, d.Version)
			}
		}
	}
}
