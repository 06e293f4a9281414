package embedded_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A budget that is spent stops requests before they are sent. The client gets status 402, in the API's own form.
func Example_budget() {
	db, done := open(embedded.Options{Engine: engine.Options{
		Budgets: []budget.Budget{{Per: "conversation", Tokens: 10_000}},
	}})
	defer done()
	agent, closeAPI := newAgent(db)
	defer closeAPI()
	for n := range 10 {
		err := agent.say(note(n))
		if refused := (*anthropic.Error)(nil); errors.As(err, &refused) {
			fmt.Println("status:", refused.StatusCode)
			return
		}
	}
	// Output:
	// status: 402
}

// With a key nothing that is said can be read in the file. Without the key nobody opens it again.
func Example_encryption() {
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "chat.db")
	keyFile := filepath.Join(dir, "key") // your own belongs elsewhere: whoever has both files reads everything
	key := make([]byte, 32)
	rand.Read(key)
	if err := os.WriteFile(keyFile, []byte(hex.EncodeToString(key)), 0o600); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	db, err := embedded.Open(ctx, file, &embedded.Options{Store: sqlite.Options{Key: sqlite.KeyFile(keyFile)}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("closed:", db.Close())
	_, err = embedded.Open(ctx, file, nil)
	fmt.Println("encrypted:", errors.Is(err, store.ErrSealed))
	// Output:
	// closed: <nil>
	// encrypted: true
}

// A client that goes back and says something else begins a branch. It shares what came before, and changes
// nothing of the conversation that it left.
func Example_fork() {
	db, agent, key, done := chat(embedded.Options{}, 4)
	defer done()
	agent.history = slices.Clone(agent.history[:4]) // two notes and their answers
	if err := agent.say("Another way to go on."); err != nil {
		log.Fatal(err)
	}
	stored(db)
	cs, err := db.Store().Conversations(context.Background(), store.Filter{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range cs {
		if c.Origin != nil {
			fmt.Println("a branch of the first:", c.Origin.Parent == key.ID, "messages:", c.Messages)
		} else {
			fmt.Println("the first, messages:", c.Messages)
		}
	}
	// Output:
	// a branch of the first: true messages: 5
	// the first, messages: 7
}
