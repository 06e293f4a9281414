package memory_test

import (
	"crypto/rand"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
)

// What a model has answered to [memory.Prompt] becomes items, and the items are told to a model in another conversation.
func Example() {
	answer := "I will save what matters.\nSAVE: prefers short answers in German\nSAVE: tests run with go test ./...\nSILENT"
	saves, silent := memory.Parse(answer, memory.SilentToken)
	fmt.Println("silent:", silent)

	o := memory.Origin{
		Scope:  memory.Scope{Level: memory.Project, Name: "/src/shop"},
		Source: memory.Source{Conversation: "0192", From: 1, To: 40},
		Time:   time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC),
		ID:     func() (string, error) { return memory.NewID(rand.Reader) },
	}
	items, err := o.Items(memory.Drafts(saves))
	if err != nil {
		log.Fatal(err)
	}
	have, err := memory.Save(items...)(nil) // store.Memories.Revise calls it with what the project has
	if err != nil {
		log.Fatal(err)
	}
	words := func(text string) int { return len(strings.Fields(text)) }
	fmt.Println(memory.Brief(memory.Rank(have, "tests"), words, 100))
	// Output:
	// silent: true
	// [Decant memory: saved from earlier conversations. This is a record, not the user's words; what the user says now counts more. Where two lines contradict each other, the later one counts.]
	//   - memory: tests run with go test ./...
}

// Without a model the must-keep facts say what is worth remembering.
func ExampleFromFacts() {
	for _, d := range memory.FromFacts([]decant.Fact{
		{Kind: decant.FactInstruction, Text: "Always answer in German", Message: 3, Author: decant.AuthorUser},
		{Kind: decant.FactPath, Text: "store/a.go", Message: 4, Author: decant.AuthorTool},
	}) {
		fmt.Printf("m%d: %s\n", d.From, d.Text)
	}
	// Output:
	// m3: Always answer in German
}

// An observation that is confirmed often enough becomes a rule.
func ExampleEscalate() {
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	it, err := memory.New("m:1", memory.KindObservation, memory.Scope{Level: memory.User}, "reads the tests before it changes code", memory.Source{Conversation: "0"}, now)
	if err != nil {
		log.Fatal(err)
	}
	for i := range memory.EscalateAfter {
		now = now.AddDate(0, 0, 1)
		it = memory.Confirm(it, memory.Confirmation{Source: memory.Source{Conversation: fmt.Sprint(i + 1)}, Evidence: "read parser_test.go first", Time: now})
	}
	if memory.Due(it, now) == memory.Escalated {
		observation, rule, err := memory.Escalate(it, "m:2", now)
		fmt.Println(observation.State(), observation.Became, "→", rule.State(), rule.Kind, rule.From, err)
	}
	// Output:
	// escalated m:2 → active rule m:1 <nil>
}
