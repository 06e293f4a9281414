package embedded_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/wire"
)

// A program that calls its model without an HTTP client of Go keeps a thread: it appends what is said, sends the view
// and reports what it cost.
func Example_thread() {
	db, done := open(embedded.Options{})
	defer done()
	ctx := context.Background()
	t := db.Engine().Thread(engine.Request{Session: "nightly"}, &decant.Conversation{Model: "claude-sonnet-4-5", MaxOutput: 1000})
	t.Append(message(decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("Say when.")}))
	for _, question := range []string{"And now?", "Now?"} {
		view, _, err := t.View(ctx)
		if err != nil {
			log.Fatal(err)
		}
		answer, usage := ask(view)
		t.Answered(usage) // before the answer is appended
		t.Append(answer, message(decant.RoleUser, decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text(question)}))
	}
	view, _, err := t.View(ctx)
	if err != nil {
		log.Fatal(err)
	}
	t.Close() // the last view gets no answer
	fmt.Println("messages to send:", len(view.Messages))
	// Output:
	// messages to send: 5
}

// ask stands in for the program's own call to its model.
func ask(view *decant.Conversation) (decant.Message, decant.Usage) {
	answer := message(decant.RoleAssistant, decant.Block{Kind: decant.KindText, Author: decant.AuthorModel, Content: decant.Text("Not yet.")})
	return answer, decant.Usage{Input: 10 * len(view.Messages), Output: 3}
}

// message returns a message of some blocks.
func message(r decant.Role, blocks ...decant.Block) decant.Message {
	return decant.Message{Role: r, Blocks: blocks}
}

// A message by hand is a role and blocks. A call and its result share an id, which only the program knows; the result
// stands in a message of the user, as the Messages API has it. The engine numbers messages and blocks.
func Example_message() {
	db, done := open(embedded.Options{})
	defer done()
	t := db.Engine().Thread(engine.Request{}, &decant.Conversation{Model: "claude-sonnet-4-5", MaxOutput: 1000})
	t.Append(
		message(decant.RoleUser,
			decant.Block{Kind: decant.KindText, Author: decant.AuthorClient, Content: decant.Text("Today is Monday.")}, // not the user's words
			decant.Block{Kind: decant.KindText, Author: decant.AuthorUser, Content: decant.Text("Does the build pass?")}),
		message(decant.RoleAssistant,
			decant.Block{Kind: decant.KindText, Author: decant.AuthorModel, Content: decant.Text("Let me see.")},
			decant.Block{Kind: decant.KindUse, Author: decant.AuthorModel, CallID: "call_1", Name: "Bash", Content: decant.Text(`{"command":"make"}`)}),
		message(decant.RoleUser,
			decant.Block{Kind: decant.KindResult, Author: decant.AuthorTool, CallID: "call_1", Name: "Bash", Error: true, Content: decant.Text("make: *** no targets")}),
	)
	view, _, err := t.View(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	t.Close()
	for i := range view.Messages {
		m := &view.Messages[i]
		fmt.Println(m.Name(), m.Role, strings.ReplaceAll(m.Text(), "\n", " | "))
	}
	body, err := wire.Encode(view, wire.Anthropic) // what a request holds
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("an error:", strings.Contains(string(body), `"is_error":true`))
	// Output:
	// m1 user Today is Monday. | Does the build pass?
	// m2 assistant Let me see. | {"command":"make"}
	// m3 user make: *** no targets
	// an error: true
}
