// Customtool is an agent with a tool of its own: it looks parts up in a list.
//
//	ANTHROPIC_API_KEY=... go run ./examples/customtool "How many bolts and nuts are there?"
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
)

// parts is what the tool knows.
var parts = map[string]int{"bolt": 120, "nut": 80, "washer": 0}

// A query is the arguments of the tool. The model is given its JSON schema, with the descriptions.
type query struct {
	Part string `json:"part" jsonschema:"name of the part in the singular"`
}

// stock is the tool: a name, what it does, and a function. An error is told to the model, which can try something else.
func stock(_ context.Context, _ *agent.Call, q query) (agent.Result, error) {
	n, ok := parts[q.Part]
	if !ok {
		return agent.Result{}, fmt.Errorf("there is no part %q; there are bolt, nut and washer", q.Part)
	}
	return agent.Result{Text: fmt.Sprintf("%s: %d", q.Part, n)}, nil
}

func main() {
	client, err := anthropic.FromEnv()
	if err == nil {
		err = run(context.Background(), client, "customtool.db", strings.Join(os.Args[1:], " "), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "customtool:", err)
		os.Exit(1)
	}
}

// run answers a question about parts.
func run(ctx context.Context, client provider.Speaker, file, question string, out io.Writer) error {
	db, err := embedded.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	tool := agent.Func("stock", "Says how many of a part there are.", stock)
	tool.ReadOnly = true // several calls at once are made side by side
	a, err := agent.New(client, agent.Options{Engine: db.Engine(), Model: "claude-sonnet-5-5", Tools: []agent.Tool{tool}})
	if err != nil {
		return err
	}
	_, err = agent.Print(out, a.Run(ctx, question))
	return err
}
