// Team is a coordinator that delegates. What its members begin with is what it knew itself when it did so, sealed.
//
//	ANTHROPIC_API_KEY=... go run ./examples/team "What do the Go files here do, and is anything wrong with them?"
//
// ANTHROPIC_BASE_URL leads it elsewhere, such as to the stand-in that "decant sandbox" starts.
package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
)

func main() {
	client, err := anthropic.FromEnv()
	if err == nil {
		err = run(context.Background(), client, "team.db", os.DirFS("."), strings.Join(os.Args[1:], " "), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "team:", err)
		os.Exit(1)
	}
}

// run answers a question about files, and says what was delegated.
func run(ctx context.Context, client provider.Speaker, file string, files fs.FS, question string, out io.Writer) error {
	db, err := embedded.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	type path struct {
		Path string `json:"path"`
	}
	read := agent.Func("read", "Reads a file.", func(_ context.Context, _ *agent.Call, p path) (agent.Result, error) {
		text, err := fs.ReadFile(files, p.Path)
		return agent.Result{Text: string(text)}, err
	})
	read.ReadOnly = true
	members := []team.Member{
		{Name: "reader", Description: "reads files and says what they do", Budget: agent.Budget{USD: 0.50}},
		{Name: "critic", Description: "finds mistakes", Prompt: "You find mistakes.", Tools: []string{"read"}},
	}
	t, err := team.New(client, team.Options{Members: members, Agent: agent.Options{
		Engine: db.Engine(), Model: "claude-sonnet-5-5", Tools: []agent.Tool{read}, Allowance: agent.NewAllowance(agent.Budget{USD: 2})}})
	if err != nil {
		return err
	}
	s := t.Agent().Session("")
	if _, err := agent.Print(out, s.Run(ctx, question)); err != nil {
		return err
	}
	for _, d := range team.Ledger(s.Messages()) {
		fmt.Fprintf(out, "(%s: %s, %d tokens, from snapshot %s)\n", d.To, d.Outcome, d.Tokens, d.Snapshot)
	}
	return nil
}
