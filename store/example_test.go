package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A counted store counts commits, and leaves everything else to the store that it wraps.
type counted struct {
	store.Store
	commits int
}

func (c *counted) Commit(ctx context.Context, b *store.Batch) (int64, error) {
	c.commits++
	return c.Store.Commit(ctx, b)
}

// A store of one's own embeds another one and changes what it has to. An engine takes it like any other.
func ExampleStore() {
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(context.Background(), filepath.Join(dir, "decant.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	mine := &counted{Store: db}
	e, err := engine.New(mine, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	t := e.Thread(engine.Request{}, &decant.Conversation{Model: "claude-sonnet-4-5", MaxOutput: 1000})
	t.Append(decant.Message{Role: decant.RoleUser, Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text("Hello.")}}})
	if _, _, err := t.View(context.Background()); err != nil {
		log.Fatal(err)
	}
	t.Answered(decant.Usage{Input: 10, Output: 5})
	fmt.Println(e.Close(), mine.commits) // Close waits until everything is stored
	// Output:
	// <nil> 1
}
