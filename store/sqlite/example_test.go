package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A conversation is created, grows by a decision, and is read back as it was before and is now.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "decant.db"), sqlite.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	// A client's first request brings one block. Its bytes and its text are blobs.
	key := store.Key{ID: "0199-example"}
	raw, text := `{"type":"text","text":"a long log ..."}`, "a long log ..."
	block := store.Entry{
		Chain: decant.HashText("user" + text), Raw: decant.HashText(raw), Text: decant.HashText(text),
		Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: 1},
	}
	v, err := db.Commit(ctx, &store.Batch{
		Key: key, Create: &store.Creation{Session: "session-1"},
		Blobs: [][]byte{[]byte(raw), []byte(text)}, Entries: []store.Entry{block},
	})
	fmt.Println("version", v, err)

	// A decision replaces it in the view. It is committed before the view leaves.
	shrink := decant.Decision{
		ID: "0199-decision", Kind: decant.Shrink, Text: "a log", Handle: decant.HandleOf(block.Text),
		Target: decant.Target{Ref: block.Ref, Hash: block.Text},
	}
	decided := &store.Batch{Key: key, Version: v, Decisions: []decant.Decision{shrink}}
	v, err = db.Commit(ctx, decided)
	fmt.Println("version", v, err)
	_, err = db.Commit(ctx, decided) // somebody else with the same version is too late
	fmt.Println("conflict:", errors.Is(err, store.ErrConflict))

	// The next request finds the conversation by its chain, and both versions can be loaded.
	m, _ := db.Match(ctx, "", "session-1", []decant.Hash{block.Chain, decant.HashText("new")})
	fmt.Println("known blocks:", m.Known, "of", m.Lines[0].ID)
	before, _ := db.Load(ctx, key, 1)
	now, _ := db.Load(ctx, key, store.Newest)
	fmt.Println("decisions before and now:", len(before.Decisions), len(now.Decisions))

	// The handle in the view leads to the original.
	o, _ := db.Resolve(ctx, key, shrink.Handle)
	original, _ := db.Blobs(ctx, "", o.Entries[0].Raw)
	fmt.Printf("original: %s\n", original[0])
	// Output:
	// version 1 <nil>
	// version 2 <nil>
	// conflict: true
	// known blocks: 1 of 0199-example
	// decisions before and now: 0 1
	// original: {"type":"text","text":"a long log ..."}
}
