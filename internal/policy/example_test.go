package policy_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// bundled reads the recorded session of testdata, and what the catalogue knows of its model.
func bundled() (*wire.Document, token.Model) {
	file, err := os.Open("../../testdata/claude-code-session.jsonl.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	src, err := wire.Read(file) // unpacks gzip
	if err != nil {
		log.Fatal(err)
	}
	doc, err := wire.Parse(src)
	if err != nil {
		log.Fatal(err)
	}
	models, err := token.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	model, _ := models.Lookup("claude-opus-4-6")
	return doc, model
}

// A plan is data. It says what would be done, at which price and risk, before anything is done.
func ExamplePlan() {
	doc, model := bundled()
	set, err := preset.Load("default")
	if err != nil {
		log.Fatal(err)
	}
	p, err := policy.Plan(context.Background(), doc.Conversation, policy.PlanOptions{
		Model: model, Preset: set, Target: 12_000, KeepTurns: -1,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tokens:", p.Before.Messages, "to", p.After.Messages)
	for _, d := range p.Decisions {
		fmt.Println(d.Kind, d.Handle)
	}
	fmt.Printf("kept with context: %.0f%%\n", p.Score*100)
	fmt.Println("paid after requests:", p.Price.BreakEven)
	// Output:
	// tokens: 59218 to 11914
	// checkpoint c:1
	// kept with context: 80%
	// paid after requests: 3
}

// A session file is compacted: a plan is made, applied and checked, and what it leaves is written in the file's
// own format.
func ExamplePlan_compactFile() {
	doc, model := bundled()
	set, err := preset.Load("default")
	if err != nil {
		log.Fatal(err)
	}
	p, err := policy.Plan(context.Background(), doc.Conversation, policy.PlanOptions{
		Model: model, Preset: set, Target: 12_000, KeepTurns: -1, Record: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	view, err := p.Apply(doc.Conversation)
	if err != nil {
		log.Fatal(err)
	}
	rules := legal.RulesFor(legal.Messages, model, decant.ThinkingOff)
	rules.Record = true // a session file may end anywhere
	out, err := doc.Render(view)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("broken rules:", len(legal.Check(view, rules)))
	fmt.Println("messages:", len(doc.Conversation.Messages), "to", len(view.Messages))
	fmt.Println("a fifth of the bytes or less:", len(out) < len(doc.Source)/5)
	// Output:
	// broken rules: 0
	// messages: 138 to 2
	// a fifth of the bytes or less: true
}
