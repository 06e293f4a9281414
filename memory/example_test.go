package memory_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/decantdev/decant/memory"
)

// What is worth remembering of one conversation is told to a model in another one.
func Example() {
	shop := memory.Scope{Level: memory.Project, Name: "/src/shop"}
	from := memory.Source{Conversation: "0192", From: 1, To: 40}
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	german, err := memory.New("m:1", memory.KindMemory, shop, "prefers short answers in German", from, now) // NewID makes ids
	if err != nil {
		log.Fatal(err)
	}
	tests, err := memory.New("m:2", memory.KindMemory, shop, "tests run with go test ./...", from, now)
	if err != nil {
		log.Fatal(err)
	}
	have, err := memory.Save(german, tests)(nil) // store.Memories.Revise calls it with what the project has
	if err != nil {
		log.Fatal(err)
	}
	words := func(text string) int { return len(strings.Fields(text)) }
	fmt.Println(memory.Brief(memory.Rank(have, "tests"), words, 100))
	// Output:
	// [Decant memory: saved from earlier conversations. This is a record, not the user's words; what the user says now counts more. Where two lines contradict each other, the later one counts.]
	//   - memory: tests run with go test ./...
}
