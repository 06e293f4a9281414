package sqlite_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// older unpacks testdata/form2.db.gz: a database as Decant made it when blobs and entries were a row
// each, after history.
func older(t *testing.T) (path string) { return unpacked(t, "form2.db.gz") }

// unpacked returns a copy of a packed database in testdata.
func unpacked(t *testing.T, name string) (path string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "decant.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// history is what has happened in an older database: a conversation with decisions, another one that
// begins with the same message, one that is edited again and again, and forks of it. It returns how
// many versions each conversation has.
func history(ctx context.Context, s store.Store) (map[string]int64, error) {
	l := &line{Key: store.Key{ID: "conv"}, size: 2000}
	for range 5 {
		if err := l.commit(ctx, s); err != nil {
			return nil, err
		}
	}
	now, fixed := time.Unix(1_700_000_000, 0), decant.HashText("fixed")
	b := (&line{Key: l.Key, size: l.size}).next()
	b.ID, b.Create.Session, b.Time = "other", "other", now
	b.Fixed = &store.Fixed{Version: fixed, System: []byte("You are careful."), Tools: []byte("[]"), Tokens: 4}
	b.Head = &store.Head{Model: "m", Fixed: fixed}
	b.Events = store.Events{Blobs: [][]byte{[]byte("answer")}, Requests: []store.Request{
		{ID: "r", Time: now, Length: 1, API: "anthropic", Model: "m", Fixed: fixed, Status: 200, Answer: decant.HashText("answer")},
	}}
	if _, err := s.Commit(ctx, b); err != nil {
		return nil, err
	}
	versions := map[string]int64{"conv": 5, "other": 1}
	for _, c := range []struct {
		id      string
		replace int
		texts   []string
		origin  *store.Origin
	}{
		{"edited", 0, []string{"a", "b", "c"}, nil},
		{"edited", 0, []string{"d", "e"}, nil},
		{"edited", 4, []string{"f"}, nil},
		{"fork", 0, []string{"g"}, &store.Origin{Parent: "edited", Version: 2, Position: 4, InForce: 2}},
		{"fork", 0, []string{"h"}, nil},
		{"fork of fork", 0, []string{"i"}, &store.Origin{Parent: "fork", Version: 2, Position: 5, InForce: 2}},
		{"fork", 5, []string{"j", "k"}, nil},
		{"fork", 3, []string{"l"}, nil},
		{"fork", 4, []string{"m"}, nil},
		{"fork", 2, nil, nil},
		{"fork of fork", 5, nil, nil},
		{"fork of fork", 1, []string{"n", "o"}, nil},
		{"edited", 2, []string{"p", "q"}, nil},
		{"edited", 4, []string{"r"}, nil},
		{"edited", 0, nil, nil},
	} {
		b := &store.Batch{Key: store.Key{ID: c.id}, Version: versions[c.id], Replace: c.replace, Time: now}
		if b.Version == 0 {
			b.Create = &store.Creation{Session: "session", Origin: c.origin}
		}
		for i, text := range c.texts {
			h := decant.HashText(text)
			b.Blobs = append(b.Blobs, []byte(text))
			b.Entries = append(b.Entries, store.Entry{
				Chain: decant.HashText(c.id + text), Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText, Author: decant.AuthorUser,
				CallID: "call " + text, Name: "tool", Ref: decant.Ref{Message: 100 + i, Block: i}, Tokens: 7 - i,
			})
		}
		v, err := s.Commit(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("version %d of %s: %w", b.Version+1, c.id, err)
		}
		versions[c.id] = v
	}
	return versions, nil
}

// TestMigratesOlderForm compares an older database, brought up to date, with one in which the same has
// happened in the present form.
func TestMigratesOlderForm(t *testing.T) {
	fresh := open(t, filepath.Join(t.TempDir(), "decant.db"))
	versions, err := history(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	for form := int64(1); form <= 2; form++ {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			path := older(t)
			if err := sqlite.Downgrade(t.Context(), path, form); err != nil {
				t.Fatalf("downgrade: %v", err)
			}
			db := open(t, path)
			for id, newest := range versions {
				for v := int64(1); v <= newest; v++ {
					sameState(t, db, fresh, store.Key{ID: id}, v)
				}
			}
			f, err := db.Fixed(t.Context(), "", decant.HashText("fixed"))
			if err != nil || string(f.System) != "You are careful." {
				t.Errorf("fixed part: %+v, %v", f, err)
			}
			hits, err := db.Search(t.Context(), store.Query{Text: `"message 3"`})
			if err != nil || len(hits) != 1 {
				t.Errorf("search for an older text: %v, %v; want one hit", hits, err)
			}
			problems, err := db.Check(t.Context())
			if err != nil || len(problems) > 0 {
				t.Errorf("check: %v, %v", problems, err)
			}
			if _, err := db.Commit(t.Context(), &store.Batch{Key: store.Key{ID: "fork"}, Version: versions["fork"], Replace: 1}); err != nil {
				t.Errorf("commit: %v", err)
			}
		})
	}
}

// sameState compares one version of a conversation in two databases: what it says, and how requests
// find it.
func sameState(t *testing.T, db, want *sqlite.DB, k store.Key, version int64) {
	t.Helper()
	var states [2]*store.State
	var matches [2]store.Match
	for i, s := range []*sqlite.DB{db, want} {
		var err error
		if states[i], err = s.Load(t.Context(), k, version); err != nil {
			t.Fatalf("version %d of %s: %v", version, k.ID, err)
		}
		var chain []decant.Hash
		for _, e := range states[i].Chain {
			chain = append(chain, e.Chain)
		}
		if matches[i], err = s.Match(t.Context(), "", states[i].Session, chain); err != nil {
			t.Fatal(err)
		}
		for j := range matches[i].Lines {
			matches[i].Lines[j].Updated = time.Time{}
		}
		states[i].Created, states[i].Updated = time.Time{}, time.Time{} // conv is of when it was made
	}
	if diff := cmp.Diff(states[1], states[0]); diff != "" {
		t.Errorf("version %d of %s (-want +got):\n%s", version, k.ID, diff)
	}
	if diff := cmp.Diff(matches[1], matches[0]); diff != "" {
		t.Errorf("match of version %d of %s (-want +got):\n%s", version, k.ID, diff)
	}
}

// TestCollectsOlderForm removes one of two conversations that hold the same blobs: those pass to the
// other one.
func TestCollectsOlderForm(t *testing.T) {
	db := open(t, older(t))
	db.Pragma(t, "UPDATE conversations SET updated = 1 WHERE id = 'conv'")
	c, err := db.GC(t.Context(), store.Policy{MaxAge: time.Minute, Now: time.UnixMicro(2).Add(time.Minute)})
	if err != nil || len(c.Conversations) != 1 || c.Blobs != 8 {
		t.Fatalf("collected %+v, %v; want one conversation and the 8 blobs that it holds alone", c, err)
	}
	l := &line{Key: store.Key{ID: "conv"}, size: 2000}
	got, err := db.Blobs(t.Context(), "", decant.HashText(l.raw(1)), decant.HashText(l.text(1)))
	if err != nil || string(got[1]) != l.text(1) {
		t.Errorf("what the other conversation holds: %v", err)
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check after the collection: %v, %v", problems, err)
	}
}
