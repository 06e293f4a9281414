package remember_test

import (
	"context"
	"fmt"
	"log"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
)

// An agent that remembers: it saves and finds memories by itself, saves what matters before a pour, and knows of earlier sessions of its
// project when one begins.
func Example() {
	ctx := context.Background()
	client, err := anthropic.New(anthropic.Options{Credential: provider.Key("x-api-key", "...")})
	if err != nil {
		log.Fatal(err)
	}
	db, err := embedded.Open(ctx, "agent.db", &embedded.Options{Recall: true, Account: &provider.Account{Client: client}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	tools, err := remember.Tools(remember.Options{Store: db.Store(), Project: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	chat, err := preset.Load("chat") // asks for a turn before each pour
	if err != nil {
		log.Fatal(err)
	}
	a, err := agent.New(client, agent.Options{Model: "claude-sonnet-4-5", Engine: db.Engine(), Project: "shop", Preset: chat, Tools: tools})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range a.Run(ctx, "Which of our prices have I asked you to round?") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(e.Text)
	}
}
