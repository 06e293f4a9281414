package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// partial is a store with two of the optional parts, whose methods share their names.
type partial struct {
	store.Core
	journals
	memories
}

type (
	journals interface{ store.Journals }
	memories interface{ store.Memories }
)

// TestCompleteRefusesWhatIsMissing guards that the parts of a store do their work, and that the others say what the
// database cannot do.
func TestCompleteRefusesWhatIsMissing(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := store.Complete(partial{db, db, db})
	if err := s.AddSteps(t.Context(), &store.Addition{Key: store.Key{ID: "j"}, Kind: "session", Steps: [][]byte{{1}}}); err != nil {
		t.Errorf("add to a journal: %v", err)
	}
	if js, err := s.Journals(t.Context(), store.JournalQuery{}); err != nil || len(js) != 1 {
		t.Errorf("journals %+v, %v", js, err)
	}
	if _, err := s.Memories(t.Context(), store.MemoryQuery{}); err != nil {
		t.Errorf("memories: %v", err)
	}
	_, search := s.Search(t.Context(), store.Query{Text: "a"})
	_, collect := s.GC(t.Context(), store.Policy{})
	for want, err := range map[string]error{
		"search text": search, "remove conversations": collect, "copy itself to a file": s.Backup(t.Context(), "copy.db"),
	} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want errors.ErrUnsupported with %q", err, want)
		}
	}
	if s := store.Complete(db); s != store.Store(db) {
		t.Errorf("a store that is complete became %T", s)
	}
}
