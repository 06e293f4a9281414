package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store/sqlite"
)

// A program that calls its model by itself appends what is said and asks what to send.
func ExampleEngine_Thread() {
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "agent.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	e, err := engine.New(db, engine.Options{Timeouts: engine.Timeouts{Optional: time.Minute}}) // it would rather wait for a slow disk than do without
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()

	t := e.Thread(engine.Request{Session: "nightly"}, &decant.Conversation{Model: "claude-sonnet-5-5", MaxOutput: 8000})
	text := func(r decant.Role, s string) decant.Message {
		return decant.Message{Role: r, Blocks: []decant.Block{{Kind: decant.KindText, Content: decant.Text(s)}}}
	}
	block := func(r decant.Role, b decant.Block) decant.Message {
		return decant.Message{Role: r, Blocks: []decant.Block{b}}
	}
	t.Append(text(decant.RoleUser, "Why does the build fail?"))
	t.Append(block(decant.RoleAssistant, decant.Block{Kind: decant.KindUse, CallID: "c1", Name: "Bash", Content: decant.Text(`{"command":"make"}`)}))
	log1 := strings.Repeat("compiling a package that is fine\n", 2000) + "main.go:7: undefined: serve\n"
	t.Append(block(decant.RoleUser, decant.Block{Kind: decant.KindResult, CallID: "c1", Content: decant.Text(log1)}))

	view, report, err := t.View(ctx)
	if err != nil {
		log.Fatal(err)
	}
	last := view.Messages[len(view.Messages)-1].Text()
	fmt.Println("decisions:", len(report.Decisions))
	fmt.Println("shorter:", len(last) < len(log1)/4)
	fmt.Println("the error is still there:", strings.Contains(last, "main.go:7: undefined: serve"))
	t.Answered(decant.Usage{Input: 2500, Output: 40})
	// Output:
	// decisions: 1
	// shorter: true
	// the error is still there: true
}
