package embedded_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// What outlives a conversation is kept beside it, and goes when the conversation that it comes from is forgotten.
func Example_memory() {
	db, _, key, done := chat(embedded.Options{}, 3)
	defer done()
	ctx := context.Background()
	project := memory.Scope{Level: memory.Project, Name: "/src/shop"}
	it, err := memory.New("m:1", memory.KindMemory, project, "tests run with go test ./...", memory.Source{Conversation: key.ID, From: 1, To: 3}, time.Now())
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Store().Revise(ctx, "", project, memory.Save(it)); err != nil {
		log.Fatal(err)
	}
	found, err := db.Store().Memories(ctx, store.MemoryQuery{Scopes: []memory.Scope{project}})
	if err != nil {
		log.Fatal(err)
	}
	for _, it := range memory.Rank(found, "test") {
		fmt.Println(it.Scope, "knows:", it.Text)
	}
	gone, err := db.Store().Forget(ctx, store.Forgetting{Conversations: []string{key.ID}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("forgotten with the conversation:", gone.Memories)
	// Output:
	// project /src/shop knows: tests run with go test ./...
	// forgotten with the conversation: 1
}
