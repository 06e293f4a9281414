package lookup

import (
	"slices"
	"testing"
	"time"

	"github.com/decantdev/decant/store"
)

func TestConversationsOfTenants(t *testing.T) {
	db := filled(t, map[string][][2]string{"alice": {{"aa11", "work"}, {"aa22", "mail"}}, "bob": {{"dd55", "mail"}}})
	found, err := Conversations(t.Context(), db, []string{"alice", "bob"}, store.Filter{Limit: 10})
	if err != nil || len(found) != 3 || !slices.IsSortedFunc(found, func(a, b store.Summary) int { return b.Updated.Compare(a.Updated) }) {
		t.Errorf("%v, %v; want three, last changed first", found, err)
	}
	found, err = Conversations(t.Context(), db, []string{"alice", "bob"}, store.Filter{Limit: 2})
	if err != nil || len(found) != 2 {
		t.Errorf("%v, %v; want two of all", found, err)
	}
	found, err = Conversations(t.Context(), db, []string{"bob"}, store.Filter{Limit: 10})
	if err != nil || len(found) != 1 || found[0].ID != "dd55" {
		t.Errorf("%v, %v; want what is bob's", found, err)
	}
}

// What comes while others are removed is a removed conversation of which nothing else is known.
func TestCollection(t *testing.T) {
	known := []store.Summary{
		{Conversation: store.Conversation{Key: store.Key{ID: "a"}, Session: "work", Updated: time.Unix(1, 0)}},
		{Conversation: store.Conversation{Key: store.Key{ID: "b"}, Session: "mail"}},
	}
	r := Collection(&store.Collected{Conversations: []store.Key{{ID: "a"}, {ID: "new"}}, Bytes: 7}, known, true)
	if !r.DryRun || r.Left != 1 || r.Bytes != 7 || len(r.Removed) != 2 || r.Removed[0].Session != "work" || r.Removed[1].ID != "new" {
		t.Errorf("%+v", r)
	}
}
