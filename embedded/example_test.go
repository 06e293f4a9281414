package embedded_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/store"
)

// A chat that would not fit into its window goes on for as long as it likes. The stand-in for the
// API has a window of 20,000 tokens and refuses everything that is larger.
func Example() {
	dir, err := os.MkdirTemp("", "decant")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	api := httptest.NewServer(sandbox.New(sandbox.Options{Window: 20_000}))
	defer api.Close()

	ctx := context.Background()
	db, err := embedded.Open(ctx, filepath.Join(dir, "chat.db"), &embedded.Options{Engine: engine.Options{
		Window: 20_000, Timeouts: engine.Timeouts{Optional: time.Minute}, // this program would rather wait for a slow disk than do without
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := anthropic.NewClient(option.WithHTTPClient(db.Client()), option.WithBaseURL(api.URL), option.WithAPIKey("key"))

	var history []anthropic.MessageParam
	said := 0
	for i := range 40 {
		words := fmt.Sprintf("Note %d: the key of box %d is k-%d. %s", i, i, i*7919, strings.Repeat("Take good care of it. ", 100))
		said += len(words)
		history = append(history, anthropic.NewUserMessage(anthropic.NewTextBlock(words)))
		answer, err := client.Messages.New(ctx, anthropic.MessageNewParams{
			Model: "claude-sonnet-5-5", MaxTokens: 1000, Messages: history,
		})
		if err != nil {
			log.Fatal(err)
		}
		history = append(history, answer.ToParam())
	}
	fmt.Println("everything that was said, in KB:", said>>10)

	if err := db.Engine().Close(); err != nil {
		log.Fatal(err)
	}
	cs, err := db.Store().Conversations(ctx, store.Filter{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("conversations:", len(cs))
	fmt.Println("messages kept:", cs[0].Messages)
	fmt.Println("checkpoints made:", cs[0].Checkpoints > 0)
	// Output:
	// everything that was said, in KB: 87
	// conversations: 1
	// messages kept: 79
	// checkpoints made: true
}
