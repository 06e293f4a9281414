package main

import (
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/sessionfile"
	"github.com/decantdev/decant/testing/sandbox"
)

type sandboxCmd struct {
	command.CatalogFlag
	Listen   string `default:"127.0.0.1:4142" placeholder:"ADDR" help:"Address to listen on; port 0 means any free port (${default})."`
	Script   string `placeholder:"FILE" help:"Answer as the assistant in this transcript did; overrides --model."`
	Model    string `default:"rules" enum:"rules,reader,summarizer" placeholder:"NAME" help:"What answers: rules (some tool calls per turn, then done), reader (uses only what it is sent), summarizer (${default})."`
	Calls    int    `default:"1" help:"Tool calls per turn (${default})."`
	OutputKB int    `name:"output-kb" default:"1" help:"Size of each shell call's output in KB (${default})."`
	Thought  int    `placeholder:"BYTES" help:"Size of the thinking before each answer, if thinking is on."`
	Window   int    `placeholder:"TOKENS" help:"Window for every model, in place of the catalogue's."`

	Misbehave    string        `placeholder:"HOW" help:"Fail as models do: empty, refusal, tool_call, too_long, invents, language, injected, error, half, storm or timeout."`
	CountBilling bool          `help:"Let Claude Code's billing line, which changes with every request, break the prompt cache."`
	Local        []string      `placeholder:"MODEL" help:"Answer Chat Completions like a self-hosted server with this model and no key."`
	Unasked      time.Duration `placeholder:"TIME" help:"Cache every prompt this long (1h) without markers, as some providers do."`
}

// Run serves a sandbox until it is told to stop.
func (c *sandboxCmd) Run(s *process.Process) error {
	model, err := c.model(s)
	if err != nil {
		return err
	}
	catalog, err := c.Models(s)
	if err != nil {
		return err
	}
	ctx, stop := s.Context()
	defer stop()
	o := sandbox.Options{Model: model, Catalog: catalog, Window: c.Window, CountBilling: c.CountBilling, Local: c.Local, Unasked: c.Unasked}
	if how := sandbox.Misbehavior(c.Misbehave); slices.Contains(sandbox.Misbehaviors(), how) {
		o = how.Apply(o)
	} else if how != "" {
		return exit.Usage(fmt.Errorf("--misbehave: there is no %q: use one of %q", how, sandbox.Misbehaviors()))
	}
	return sandbox.ListenAndServe(ctx, c.Listen, o, func(a net.Addr) {
		fmt.Fprintf(s.Out, "A stand-in for Anthropic's and OpenAI's APIs listens on http://%[1]s. Any key will do; nothing leaves this machine.\n"+
			"  Messages API:                 ANTHROPIC_BASE_URL=http://%[1]s\n"+
			"  Responses, Chat Completions:  OPENAI_BASE_URL=http://%[1]s/v1\n"+
			"  Codex:                        codex -c 'openai_base_url=\"http://%[1]s/v1\"'\n", a)
	})
}

// model returns the model that answers.
func (c *sandboxCmd) model(s *process.Process) (sandbox.Model, error) {
	switch {
	case c.Script == "" && c.Model == "reader":
		return sandbox.Reader{}, nil
	case c.Script == "" && c.Model == "summarizer":
		return sandbox.Summarizer{}, nil
	case c.Script == "":
		calls := c.Calls
		if calls == 0 {
			calls = -1 // Rules take zero for the default
		}
		return &sandbox.Rules{Calls: calls, OutputKB: c.OutputKB, Thought: c.Thought}, nil
	}
	doc, err := sessionfile.Read(s, c.Script, "")
	if err != nil {
		return nil, err
	}
	script := sandbox.NewScript(doc.Conversation)
	if len(script.Answers) == 0 {
		return nil, exit.Input(fmt.Errorf("%s: there is no message of an assistant to play", c.Script))
	}
	return script, nil
}
