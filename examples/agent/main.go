// Agent is a small agent: it has one tool, remembers everything it was told, and never outgrows its window.
//
//	ANTHROPIC_API_KEY=... go run ./examples/agent "Which Go files are here, and what are they for?"
//
// ANTHROPIC_BASE_URL leads it elsewhere, such as to the stand-in that "decant sandbox" starts.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/provider/anthropic"
)

type files struct {
	Pattern string `json:"pattern" jsonschema:"such as *.go"`
}

func list(_ context.Context, _ *agent.Call, f files) (agent.Result, error) {
	names, err := filepath.Glob(f.Pattern)
	return agent.Result{Text: strings.Join(names, "\n")}, err
}

func run(ctx context.Context, question string, out io.Writer) error {
	db, err := embedded.Open(ctx, "agent.db", nil) // all that was ever said
	if err != nil {
		return err
	}
	defer db.Close()
	client, err := anthropic.FromEnv()
	if err != nil {
		return err
	}
	a, err := agent.New(client, agent.Options{Engine: db.Engine(), Model: "claude-sonnet-5-5",
		Tools: []agent.Tool{agent.Func("list", "Lists files.", list)}, Budget: agent.Budget{USD: 0.50}})
	if err != nil {
		return err
	}
	_, err = agent.Print(out, a.Run(ctx, question))
	return err
}

func main() {
	if err := run(context.Background(), strings.Join(os.Args[1:], " "), os.Stdout); err != nil {
		log.Fatal(err)
	}
}
