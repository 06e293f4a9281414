package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// history5 is what has happened in testdata/form5.db.gz: a conversation that was answered, poured and
// forked, with requests and what they cost.
func history5(ctx context.Context, s store.Store) error {
	at := time.Unix(1_700_000_000, 0).UTC()
	entry := func(n int, role decant.Role) store.Entry {
		text := fmt.Sprint("text ", n)
		h := decant.HashText(text)
		return store.Entry{
			Chain: decant.HashText(fmt.Sprint("chain ", n)), Raw: h, Text: h, Role: role, Kind: decant.KindText, Author: decant.AuthorUser,
			Ref: decant.Ref{Message: n}, Tokens: 10 * n,
		}
	}
	edit := func(id string, n int) decant.Decision {
		e := entry(n, decant.RoleUser)
		return decant.Decision{
			ID: id, Kind: decant.Shrink, Text: "short", Target: decant.Target{Ref: e.Ref, Hash: e.Text}, Handle: decant.HandleOf(e.Text),
			Created: at, Before: 10 * n, After: 1,
		}
	}
	batch := func(id string, version int64, n int) *store.Batch {
		b := &store.Batch{Key: store.Key{Tenant: "alice", ID: id}, Version: version, Time: at}
		role := decant.RoleUser
		if n%2 == 0 {
			role = decant.RoleAssistant
		}
		b.Entries = []store.Entry{entry(n, role)}
		b.Blobs = [][]byte{[]byte(fmt.Sprint("text ", n))}
		b.Events.Requests = []store.Request{{ID: fmt.Sprint("request ", n), Time: at, Length: n, API: "anthropic", Model: "m", Status: 200, Stop: "end_turn", Usage: decant.Usage{Input: n}}}
		b.Events.Spends = []store.Spend{{ID: fmt.Sprint("request ", n), Time: at, Model: "m", Usage: decant.Usage{Input: n}, Without: decant.Usage{Input: 2 * n}, Cost: store.Money(n), Bare: store.Money(2 * n)}}
		return b
	}
	one := batch("parent", 0, 1)
	one.Create = &store.Creation{Session: "s"}
	two, three := batch("parent", 1, 2), batch("parent", 2, 3)
	two.Decisions, three.Decisions = []decant.Decision{edit("early", 1)}, []decant.Decision{edit("late", 1)}
	fork := batch("fork", 0, 4)
	fork.Create = &store.Creation{Session: "s", Origin: &store.Origin{Parent: "parent", Version: 3, Position: 2, InForce: 3}}
	for _, b := range []*store.Batch{one, two, three, fork} {
		if _, err := s.Commit(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// TestOpensThePreviousForm opens a database of the form before this one: what it holds is what a new
// database holds after the same history, a fork keeps the decisions that it was sent with, and it can
// be written.
func TestOpensThePreviousForm(t *testing.T) {
	db, fresh := open(t, unpacked(t, "form5.db.gz")), open(t, filepath.Join(t.TempDir(), "decant.db"))
	if err := history5(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	for id, newest := range map[string]int64{"parent": 3, "fork": 1} {
		k := store.Key{Tenant: "alice", ID: id}
		for v := int64(1); v <= newest; v++ {
			sameState(t, db, fresh, k, v)
		}
		got, err := db.Requests(t.Context(), k)
		want, err2 := fresh.Requests(t.Context(), k)
		if diff := cmp.Diff(want, got); err != nil || err2 != nil || diff != "" {
			t.Errorf("requests of %s: %v, %v (-want +got):\n%s", id, err, err2, diff)
		}
	}
	q := store.SpendQuery{Tenant: "alice"}
	got, err := db.Spending(t.Context(), q)
	want, err2 := fresh.Spending(t.Context(), q)
	if diff := cmp.Diff(want, got); err != nil || err2 != nil || diff != "" {
		t.Errorf("spending: %v, %v (-want +got):\n%s", err, err2, diff)
	}
	if _, err := db.Commit(t.Context(), &store.Batch{Key: store.Key{Tenant: "alice", ID: "fork"}, Version: 1, Replace: 1}); err != nil {
		t.Errorf("commit: %v", err)
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}
