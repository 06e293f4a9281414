package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A parent that is removed between the reads of a commit and its statement has no fork.
func TestAForkNeedsItsParent(t *testing.T) {
	address := anyDatabase(t)
	empty(t, address)
	db, ctx := openTest(t, address), t.Context()
	said := func(id string, at int, text string) store.Batch {
		h := decant.HashText(text)
		return store.Batch{Key: store.Key{ID: id}, Time: time.Unix(1, 0), Blobs: [][]byte{[]byte(text)}, Entries: []store.Entry{
			{Chain: h, Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: at}},
		}}
	}
	parent := said("fork-parent", 1, "Hello.")
	parent.Create = &store.Creation{Session: "fork"}
	if _, err := db.Commit(ctx, &parent); err != nil {
		t.Fatal(err)
	}
	b := said("fork", 2, "And?")
	b.Create = &store.Creation{Session: "fork", Origin: &store.Origin{Parent: parent.ID, Version: 1, Position: 1, InForce: 1}}
	c := &commit{Batch: &b, now: b.Time}
	if err := errors.Join(c.look(ctx, db), c.build()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.rows(ctx, "DELETE FROM conversations WHERE id = $1", parent.ID); err != nil {
		t.Fatal(err)
	}
	rows, err := one(db.do(ctx, c.query()))
	if err != nil || len(rows) > 0 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if err := c.refused(ctx, db); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("refused with %v, want ErrNotFound", err)
	}
}
