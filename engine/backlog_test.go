package engine_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
)

// A store that hangs takes no more memory than it may: requests go on, what finds no room is not archived, it is
// said once, and when the store works again all comes back with the clients' next requests.
func TestBacklogHasABound(t *testing.T) {
	const most, conversations = 1 << 17, 40
	k := newDialogue(t, engine.Options{})
	gate := &gated{Store: k.store, open: make(chan struct{}), busy: make(chan struct{}, 2*conversations)}
	k.store = gate
	var faults, notices []string
	k.start(engine.Options{
		Memory: engine.Memory{Backlog: most}, ArchiveDelay: -1,
		Logger: testkit.Log(func(level slog.Level, line string) {
			if level >= slog.LevelError {
				faults = append(faults, line)
			} else {
				notices = append(notices, line)
			}
		}),
	})
	said := func(n int) {
		k.session, k.ms = fmt.Sprint("s", n), nil
		k.user(strings.Repeat("words ", 3_000))
	}
	answered := func() {
		k.engine.Finish(k.prepare(), engine.Response{Status: http.StatusOK, Usage: decant.Usage{Input: 20_000, Output: 10}, Content: []byte(`[]`)})
		if waiting, _ := k.engine.Backlog(); waiting > most {
			t.Fatalf("%d bytes wait for the store, want %d at most", waiting, most)
		}
	}
	for n := range conversations {
		said(n)
		answered()
	}
	waiting, lost := k.engine.Backlog()
	if waiting < most/2 || lost == 0 || lost == conversations {
		t.Errorf("%d bytes wait, %d answers of %d were lost; want some of each", waiting, lost, conversations)
	}
	if len(faults) != 1 || len(notices) != 0 {
		t.Errorf("faults %q, notices %q; want one fault", faults, notices)
	}
	close(gate.open)
	k.engine.Close()
	if waiting, _ := k.engine.Backlog(); waiting != 0 {
		t.Errorf("%d bytes wait for a store that has followed", waiting)
	}
	if want := fmt.Sprintf("not_archived=%d", lost); len(notices) != 1 || !strings.Contains(notices[0], want) {
		t.Errorf("notices %q, want one of %q", notices, want)
	}
	for n := range conversations {
		said(n)
		k.says("Answer.")
		k.user("And now?")
		answered()
		k.engine.Close()
		s, err := k.store.Load(t.Context(), store.Key{ID: k.last.Conversation}, store.Newest)
		if err != nil || len(s.Chain) != 3 {
			t.Fatalf("conversation %d: %v, want its three messages", n, err)
		}
	}
	if len(faults) != 1 || len(notices) != 1 {
		t.Errorf("once the store works: faults %q, notices %q", faults, notices)
	}
}
