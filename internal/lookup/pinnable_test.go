package lookup

import (
	"errors"
	"slices"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

func TestPinnable(t *testing.T) {
	db := filled(t, map[string][][2]string{"alice": {{"aa11", "work"}}})
	k := store.Key{Tenant: "alice", ID: "aa11"}
	state, err := db.Load(t.Context(), k, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	thought, said := decant.HashText("hm"), decant.HashText("done")
	entry := func(block, position int, kind decant.Kind, text decant.Hash) store.Entry {
		return store.Entry{Chain: decant.HashText(string(rune('a' + position))), Raw: text, Text: text, Role: decant.RoleAssistant, Kind: kind,
			Position: position, Ref: decant.Ref{Message: 2, Block: block}, Tokens: 1}
	}
	_, err = db.Commit(t.Context(), &store.Batch{
		Key: k, Version: state.Version, Blobs: [][]byte{[]byte("hm"), []byte("done")}, Hashes: []decant.Hash{thought, said},
		Entries: []store.Entry{entry(0, 1, decant.KindThinking, thought), entry(1, 2, decant.KindText, said), entry(2, 3, decant.KindText, said)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range map[int][]decant.Ref{1: {{Message: 1}}, 2: {{Message: 2, Block: 1}, {Message: 2, Block: 2}}, 9: nil} {
		got, err := Pinnable(t.Context(), db, k, message)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("m%d: %v, %v; want %v", message, got, err, want)
		}
	}
	if _, err := Pinnable(t.Context(), db, store.Key{Tenant: "bob", ID: "aa11"}, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("bob pins what is alice's: %v", err)
	}
}
