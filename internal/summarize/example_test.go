package summarize_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/token"
)

// asker makes own calls with one client. A program that serves others limits and books them here.
type asker struct{ client provider.Client }

// Ask implements owncalls.Asker.
func (a asker) Ask(ctx context.Context, _ owncalls.Cause, r *provider.Request) (*provider.Answer, error) {
	return a.client.Ask(ctx, r)
}

// A Summarizer asks through an Asker. Here a sandbox answers; for the real API leave Base and Transport out. An engine takes
// it as its Summarizer.
func ExampleNew() {
	over, stop := sandbox.New(sandbox.Options{Model: sandbox.Summarizer{}}).Pipe()
	defer stop()
	client, err := anthropic.New(anthropic.Options{Base: "http://127.0.0.1", Transport: over, Credential: provider.Key("x-api-key", "key")})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := summarize.New(summarize.Options{Asker: asker{client}, Model: summarize.Always("claude-haiku-4-5")})
	if err != nil {
		fmt.Println(err)
		return
	}
	said := func(n int, role decant.Role, who decant.Author, text string) decant.Message {
		return decant.Message{Number: n, Role: role, Blocks: []decant.Block{{Kind: decant.KindText, Author: who, Content: decant.Text(text)}}}
	}
	out, err := s.Summarize(context.Background(), provider.SummaryInput{
		MaxTokens: 500, Counter: token.For(token.Model{ID: "claude-opus-4-5"}), Model: token.Model{ID: "claude-opus-4-5"},
		Messages: []decant.Message{
			said(1, decant.RoleUser, decant.AuthorUser, "Please rename cmd/server to cmd/gateway, and keep the flags as they are. "+strings.Repeat("We ship it on Friday. ", 40)),
			said(2, decant.RoleAssistant, decant.AuthorModel, "Done: cmd/gateway builds. I decided to keep an alias for the old name."),
		},
	})
	fmt.Println(err, out.Rung, out.Model, strings.Contains(out.Text, "cmd/gateway"))
	// Output: <nil> model claude-haiku-4-5 true
}
