package lookup

import (
	"maps"
	"testing"
	"time"

	"github.com/decantdev/decant/store"
)

// began returns a conversation that began so many seconds in.
func began(id, session string, second int64, requests int, parent string) store.Summary {
	c := store.Summary{Conversation: store.Conversation{Key: store.Key{ID: id}, Session: session, Created: time.Unix(second, 0), Updated: time.Unix(second+int64(requests), 0)}, Requests: requests}
	if parent != "" {
		c.Origin = &store.Origin{Parent: parent}
	}
	return c
}

// Whose a conversation is follows from when it began in its session, and whether it went on; forks stay with what they left.
func TestSubAgents(t *testing.T) {
	got := subAgents([]store.Summary{
		began("fork2", "work", 9, 4, "fork"),
		began("sub", "work", 5, 60, ""),
		began("main", "work", 2, 3, ""),
		began("title", "work", 1, 1, ""),
		began("fork", "work", 8, 4, "sub"),
		began("rewound", "work", 8, 4, "main"),
		began("lost", "work", 9, 4, "gone"),
		began("alone", "mail", 3, 1, ""),
		began("no session", "", 4, 9, ""),
		began("no session either", "", 5, 9, ""),
		began("circle", "work", 6, 2, "circle"),
		began("first", "compacted", 1, 10, ""),
		began("helper", "compacted", 4, 5, ""),
		began("second", "compacted", 20, 30, ""), // behind the client's compaction
		began("its helper", "compacted", 25, 9, ""),
		began("third", "compacted", 60, 2, ""),
	})
	want := map[string]string{"sub": "sub", "title": "title", "fork": "sub", "fork2": "sub", "helper": "helper", "its helper": "its helper"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
