package mcp_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/mcp"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
)

// An agent with the tools of the servers that a project has in .mcp.json.
func Example() {
	ctx := context.Background()
	src, err := os.ReadFile(".mcp.json")
	if err != nil {
		log.Fatal(err)
	}
	servers, err := mcp.Read(".mcp.json", src, nil)
	if err != nil {
		log.Fatal(err)
	}
	set := mcp.Open(ctx, servers, mcp.Options{})
	defer set.Close()
	if err := set.Err(); err != nil {
		log.Println(err) // the others are there
	}
	tools, err := set.Tools(ctx)
	if err != nil {
		log.Fatal(err)
	}
	client, err := anthropic.New(anthropic.Options{Credential: provider.Key("x-api-key", "...")})
	if err != nil {
		log.Fatal(err)
	}
	db, err := embedded.Open(ctx, "agent.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	a, err := agent.New(client, agent.Options{Model: "claude-sonnet-4-5", Engine: db.Engine(), Tools: tools})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range a.Run(ctx, "Which tickets are open?") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(e.Text)
	}
	fmt.Println("other tools for the next session:", set.Changed())
}
