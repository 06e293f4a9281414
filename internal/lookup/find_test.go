package lookup

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// filled returns a store with conversations of two tenants: id and session of each.
func filled(t *testing.T, held map[string][][2]string) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	at := time.Unix(1_800_000_000, 0)
	for tenant, all := range held {
		for _, x := range all {
			at = at.Add(time.Second)
			text := "hello from " + x[0]
			h := decant.HashText(text)
			_, err := db.Commit(t.Context(), &store.Batch{
				Key: store.Key{Tenant: tenant, ID: x[0]}, Create: &store.Creation{Session: x[1]}, Time: at, Blobs: [][]byte{[]byte(text)}, Hashes: []decant.Hash{h},
				Entries: []store.Entry{{Chain: h, Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: 1}, Tokens: 5}},
				Decisions: []decant.Decision{{
					ID: "d1", Kind: decant.Stub, Text: "short", Handle: decant.HandleOf(h), Created: at, Target: decant.Target{Ref: decant.Ref{Message: 1}, Hash: h},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return db
}

func TestConversationByName(t *testing.T) {
	db := filled(t, map[string][][2]string{
		"alice": {{"aa11", "work"}, {"aa22", "work"}, {"ab33", "workshop"}, {"cc44", "mail"}},
		"bob":   {{"dd55", "mail"}},
	})
	for _, c := range []struct {
		tenant, name, want string // want is an id, or empty
		several            int
	}{
		{"alice", "aa11", "aa11", 0},
		{"alice", "ab", "ab33", 0},
		{"alice", "aa", "", 2},
		{"alice", "mail", "cc44", 0},
		{"alice", "work", "", 2}, // the whole name of a session is no beginning of another
		{"alice", "works", "ab33", 0},
		{"alice", "last", "cc44", 0},
		{"bob", "last", "dd55", 0},
		{"bob", "aa11", "", 0},
	} {
		got, err := Conversation(t.Context(), db, c.tenant, c.name)
		var several *AmbiguousError
		switch {
		case c.want != "":
			if err != nil || got.ID != c.want {
				t.Errorf("%s of %s: %v, %v; want %s", c.name, c.tenant, got, err, c.want)
			}
		case c.several > 0:
			if !errors.As(err, &several) || len(several.Found) != c.several {
				t.Errorf("%s of %s: %v; want %d conversations to choose from", c.name, c.tenant, err, c.several)
			}
		case !errors.Is(err, store.ErrNotFound):
			t.Errorf("%s of %s: %v, %v; want nothing found", c.name, c.tenant, got, err)
		}
	}
}

func TestOriginalByHandle(t *testing.T) {
	db := filled(t, map[string][][2]string{"alice": {{"aa11", "work"}}})
	h := decant.HandleOf(decant.HashText("hello from aa11"))
	for _, in := range []store.Key{{Tenant: "alice"}, {Tenant: "alice", ID: "aa11"}} {
		o, err := Original(t.Context(), db, in, h)
		if err != nil || o == nil {
			t.Errorf("%s in %v: %v", h, in, err)
			continue
		}
		var text strings.Builder
		if err := Expand(t.Context(), &text, db, o); err != nil || text.String() != "hello from aa11" {
			t.Errorf("%s in %v: %q, %v", h, in, text.String(), err)
		}
	}
	if _, err := Original(t.Context(), db, store.Key{Tenant: "bob"}, h); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("bob finds what is alice's: %v", err)
	}
	if _, err := Original(t.Context(), db, store.Key{Tenant: "alice"}, "c:1"); !errors.Is(err, ErrWhich) {
		t.Errorf("a checkpoint of no conversation: %v", err)
	}
}
