package embedded_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
)

// A program opens a database and gives its SDK another HTTP client. Nothing else in it changes.
func Example() {
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	api := httptest.NewServer(sandbox.New(sandbox.Options{})) // stands in for https://api.anthropic.com
	defer api.Close()

	ctx := context.Background()
	db, err := embedded.Open(ctx, filepath.Join(dir, "chat.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := anthropic.NewClient(option.WithHTTPClient(db.Client()), option.WithBaseURL(api.URL), option.WithAPIKey("key"))

	answer, err := client.Messages.New(ctx, anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 1000,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello."))},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StopReason)
	// Output:
	// end_turn
}

// A chat that would not fit into its window goes on for as long as it likes, and all of it is kept.
func Example_longChat() {
	db, _, key, done := chat(embedded.Options{}, 28)
	defer done()
	c, err := db.Store().Conversations(context.Background(), store.Filter{Name: key.ID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("messages kept:", c[0].Messages)
	fmt.Println("more than the window holds:", c[0].Tokens > 14_000)
	fmt.Println("checkpoints made:", c[0].Checkpoints > 0)
	// Output:
	// messages kept: 55
	// more than the window holds: true
	// checkpoints made: true
}
