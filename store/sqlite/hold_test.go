package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// TestHoldsOfManyCommits has a conversation refer to another blob of a first conversation in each of
// its commits. It holds them all, in few rows, and inherits them when the first one goes.
func TestHoldsOfManyCommits(t *testing.T) {
	const n = 100
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	texts := make([][]byte, n)
	first := &store.Batch{Key: store.Key{ID: "first"}, Create: &store.Creation{Session: "1"}, Time: time.Unix(1, 0)}
	for i := range texts {
		texts[i] = fmt.Appendf(nil, "text %d", i)
	}
	first.Blobs = append(first.Blobs, texts...)
	if _, err := db.Commit(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		h := decant.HashText(string(text))
		b := &store.Batch{Key: store.Key{ID: "second"}, Version: int64(i), Time: time.Unix(1000, 0), Blobs: [][]byte{text}}
		b.Entries = []store.Entry{{Chain: decant.HashText(fmt.Sprint(i)), Raw: h, Ref: decant.Ref{Message: i + 1}}}
		if i == 0 {
			b.Create = &store.Creation{Session: "2"}
		}
		if _, err := db.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if rows := db.Row(t, "SELECT count(*) <= 8, sum(length(hashes)) FROM holds", 2); rows != fmt.Sprint("1|", 16*n) {
		t.Errorf("holds has at most 8 rows, and so many bytes: %s", rows)
	}
	c, err := db.GC(t.Context(), store.Policy{Now: time.Unix(1001, 0), MaxAge: time.Minute})
	if err != nil || len(c.Conversations) != 1 || c.Blobs != 0 {
		t.Errorf("collected %+v, %v; want the first conversation and no blob", c, err)
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	for _, text := range texts {
		if got, err := db.Blobs(t.Context(), "", decant.HashText(string(text))); err != nil || string(got[0]) != string(text) {
			t.Fatalf("blob %q: %v", text, err)
		}
	}
}
