package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// secrets are words of which each stands in one sort of content, and nowhere else.
func secrets(who string) map[string]string {
	out := map[string]string{}
	for i, sort := range []string{"text", "stub", "summary", "fact", "system", "tools", "frame", "answer", "plan", "session", "agent", "project", "tool", "reason", "memory", "evidence", "scope"} {
		out[sort] = fmt.Sprintf("%c%s", 'g'+i, decant.HashText(who + sort).String()[:12])
	}
	return out
}

// confide makes a conversation with everything that one can hold, and returns its words.
func confide(t *testing.T, db *sqlite.Database, k store.Key, parent *store.Origin) map[string]string {
	t.Helper()
	w, now := secrets(k.Tenant+k.ID), time.Unix(1_800_000_000, 0)
	blobs := [][]byte{}
	blob := func(sort string) decant.Hash {
		blobs = append(blobs, []byte("it says "+w[sort]+" here"))
		return decant.HashText(string(blobs[len(blobs)-1]))
	}
	text := blob("text")
	fixed := decant.HashText("fixed" + k.ID)
	b := &store.Batch{
		Key: k, Create: &store.Creation{Session: w["session"], Agent: w["agent"], Project: w["project"], Origin: parent},
		Entries: []store.Entry{{
			Chain: decant.HashText("chain" + k.Tenant + k.ID), Raw: text, Text: text, Role: decant.RoleUser, Kind: decant.KindText, Name: w["tool"],
			Ref: decant.Ref{Message: 1}, Tokens: 5,
		}},
		Decisions: []decant.Decision{
			{ID: "d1", Kind: decant.Stub, Text: w["stub"], Reason: w["reason"], Target: decant.Target{Ref: decant.Ref{Message: 1}, Hash: text}, Created: now},
			{ID: "d2", Kind: decant.Cover, Created: now, Checkpoint: &decant.Checkpoint{
				Number: 1, From: 1, To: 1, Messages: 1, Summary: w["summary"], Facts: []decant.Fact{{Kind: decant.FactPath, Text: w["fact"]}},
			}},
		},
		Fixed: &store.Fixed{Version: fixed, System: []byte("system " + w["system"]), Tools: []byte("tools " + w["tools"])},
		Head:  &store.Head{Model: "m", Fixed: fixed, Pinned: true},
	}
	b.Events = store.Events{
		Requests: []store.Request{{
			ID: "r-" + k.ID, Time: now, Length: 1, Model: "m", Fixed: fixed, Status: 200, Frame: blob("frame"), Answer: blob("answer"),
			Planned: &store.Planned{Decisions: blob("plan")},
		}},
		Spends: []store.Spend{{ID: "r-" + k.ID, Time: now, Model: "m", Usage: decant.Usage{Input: 10}, Cost: 7}},
	}
	b.Blobs = append(b.Blobs, blobs...)
	b.Blobs = append(b.Blobs, []byte("everybody says this"))
	if _, err := db.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	at := memory.Scope{Level: memory.Project, Name: "the project " + w["scope"]}
	it, err := memory.New("m:"+k.ID, memory.KindMemory, at, "remember "+w["memory"], memory.Source{Conversation: k.ID}, now)
	must(t, err)
	it = memory.Confirm(it, memory.Confirmation{Source: memory.Source{Conversation: k.ID, From: 7}, Evidence: "it was said again " + w["evidence"], Time: now})
	must(t, db.Revise(t.Context(), k.Tenant, at, memory.Save(it)))
	return w
}

// left returns which words stand in the files of a database, in whatever case.
func left(t *testing.T, path string, words map[string]string) (found []string) {
	t.Helper()
	var all []byte
	for _, end := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(path + end)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		all = append(all, bytes.ToLower(data)...)
	}
	for sort, word := range words {
		if bytes.Contains(all, []byte(strings.ToLower(word))) {
			found = append(found, sort)
		}
	}
	return found
}

// TestForgetLeavesNothingInTheFiles looks for the words of a forgotten conversation in the raw bytes of the database, its
// log and its index, where rows that were removed by other means are still to be read.
func TestForgetLeavesNothingInTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	mine := confide(t, db, store.Key{ID: "mine"}, nil)
	fork := confide(t, db, store.Key{ID: "fork"}, &store.Origin{Parent: "mine", Version: 1, Position: 1, InForce: 1})
	stays := confide(t, db, store.Key{ID: "stays"}, nil)
	_, err := db.Index(t.Context(), 0)
	must(t, err)
	for _, w := range []map[string]string{mine, fork, stays} {
		if found := left(t, path, w); len(found) != len(w) {
			t.Fatalf("of %d words only these are in the files, the test cannot tell: %q", len(w), found)
		}
	}
	c, err := db.Forget(t.Context(), store.Forgetting{Conversations: []string{"mine"}, DryRun: true})
	if err != nil || len(c.Conversations) != 2 || len(left(t, path, mine)) != len(mine) {
		t.Fatalf("a dry run: %+v, %v", c, err)
	}
	c, err = db.Forget(t.Context(), store.Forgetting{Conversations: []string{"fork", "mine"}})
	if err != nil || len(c.Conversations) != 2 {
		t.Fatalf("forget: %+v, %v", c, err)
	}
	if found := append(left(t, path, mine), left(t, path, fork)...); len(found) > 0 {
		t.Errorf("still in the files: %q", found)
	}
	if found := left(t, path, stays); len(found) != len(stays) {
		t.Errorf("of the conversation that stays only %q is left", found)
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	sum, err := db.Spent(t.Context(), store.SpendQuery{})
	if want := (store.Sum{Tokens: 30, Cost: 21}); sum != want || err != nil {
		t.Errorf("spent %+v, %v; want the figures to stay: %+v", sum, err, want)
	}
	hits, err := db.Search(t.Context(), store.Query{Text: stays["text"]})
	if err != nil || len(hits) != 1 {
		t.Errorf("search for what stays: %v, %v", hits, err)
	}
}

// What another tenant holds is not touched, and what was removed earlier by gc goes with it.
func TestForgetATenant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	var gone []map[string]string
	for i := range 20 {
		gone = append(gone, confide(t, db, store.Key{Tenant: "alice", ID: fmt.Sprint("conv", i)}, nil))
	}
	bob := confide(t, db, store.Key{Tenant: "bob", ID: "conv0"}, nil)
	_, err := db.Index(t.Context(), 0)
	must(t, err)
	c, err := db.Forget(t.Context(), store.Forgetting{Tenant: "alice"})
	if err != nil || len(c.Conversations) != 20 {
		t.Fatalf("forget: %d conversations, %v", len(c.Conversations), err)
	}
	for _, w := range gone {
		if found := left(t, path, w); len(found) > 0 {
			t.Fatalf("still in the files: %q", found)
		}
	}
	if found := left(t, path, bob); len(found) != len(bob) {
		t.Errorf("of bob's only %q is left", found)
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}
