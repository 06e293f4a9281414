// Agent is a small agent: it has one tool, remembers everything it was told, and never outgrows its window.
//
//	ANTHROPIC_API_KEY=... go run ./examples/agent "Which Go files are here, and what are they for?"
//
// ANTHROPIC_BASE_URL leads it elsewhere, such as to the stand-in that "decant sandbox" starts.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
)

func main() {
	client, err := anthropic.New(anthropic.Options{
		Base: os.Getenv("ANTHROPIC_BASE_URL"), Credential: provider.Key("x-api-key", os.Getenv("ANTHROPIC_API_KEY")),
	})
	if err == nil {
		err = run(context.Background(), client, "agent.db", strings.Join(os.Args[1:], " "), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run answers a question about the files in the current folder.
func run(ctx context.Context, client provider.Speaker, file, question string, out io.Writer) error {
	db, err := embedded.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	type pattern struct {
		Pattern string `json:"pattern" jsonschema:"description=such as *.go"`
	}
	list := agent.Func("list", "Lists files.", func(_ context.Context, _ *agent.Call, p pattern) (agent.Result, error) {
		names, err := filepath.Glob(p.Pattern)
		return agent.Result{Text: strings.Join(names, "\n")}, err
	})
	a, err := agent.New(client, agent.Options{Engine: db.Engine(), Model: "claude-sonnet-4-5", Tools: []agent.Tool{list},
		Budget: agent.Budget{USD: 0.50}})
	if err != nil {
		return err
	}
	for e, err := range a.Run(ctx, question) {
		switch {
		case err != nil:
			return err
		case e.Kind == agent.EventText:
			fmt.Fprint(out, e.Text)
		case e.Kind == agent.EventCall:
			fmt.Fprintf(out, "\n[%s %s]\n", e.Call.Tool, e.Call.Arguments)
		case e.Kind == agent.EventDone:
			fmt.Fprintf(out, "\n(%s, %d turns, %d tokens)\n", e.Outcome.Stop, e.Outcome.Spent.Turns, e.Outcome.Spent.Tokens())
		}
	}
	return nil
}
