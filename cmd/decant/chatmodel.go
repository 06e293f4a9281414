package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/provider/openai"
	"github.com/decantdev/decant/summarize"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/token"
)

// defaultModel is the model of a chat that names none.
const defaultModel = "claude-sonnet-5-5"

// playedModel is the model that a stand-in plays in a chat that names none: one whose provider compacts nothing by itself, so that what
// Decant does is seen.
const playedModel = "claude-haiku-4-5"

// errNoModel says both ways to get one.
var errNoModel = errors.New(`there is no key for a model. Either set ANTHROPIC_API_KEY (or OPENAI_API_KEY, or OPENAI_BASE_URL for a model on this machine, with --model), or try it without a key: decant chat --sandbox`)

// talkTo says whom a chat talks to: a stand-in, or a model that there is a key for. via carries the calls to a model;
// nil: http.DefaultTransport. The function that it returns ends a stand-in.
func talkTo(s *process.Process, o *chat.Options, sandboxed bool, via http.RoundTripper) (func() error, error) {
	o.Model = o.Project.Settings.Model
	if sandboxed {
		return standIn(o)
	}
	switch whose := providerOf(s, o.Catalog, o.Model); {
	case whose == token.Anthropic && s.Key("ANTHROPIC_API_KEY") != "":
		return nil, overMessages(s, o, via)
	case whose == token.OpenAI && (s.Key("OPENAI_API_KEY") != "" || s.Getenv("OPENAI_BASE_URL") != ""):
		return nil, overCompletions(s, o, via)
	}
	return nil, exit.Usage(errNoModel)
}

// providerOf returns who has a model: as the catalogue says; of one that it does not know, or that nobody names, whoever there is a key for.
func providerOf(s *process.Process, catalog *token.Catalog, model string) token.Provider {
	if m, known := catalog.Lookup(model); known {
		return m.Provider
	}
	if strings.HasPrefix(model, "claude") || s.Key("OPENAI_API_KEY") == "" && s.Getenv("OPENAI_BASE_URL") == "" {
		return token.Anthropic
	}
	if model == "" && s.Key("ANTHROPIC_API_KEY") != "" {
		return token.Anthropic
	}
	return token.OpenAI
}

// overMessages has a chat talk over the Messages API. The cheapest model of the provider writes records.
func overMessages(s *process.Process, o *chat.Options, via http.RoundTripper) error {
	if o.Model == "" {
		o.Model = defaultModel
	}
	base := s.Getenv("ANTHROPIC_BASE_URL")
	client, err := anthropic.New(anthropic.Options{Base: base, Transport: via, Credential: provider.Key("x-api-key", s.Key("ANTHROPIC_API_KEY")), Catalog: o.Catalog})
	if err != nil {
		return exit.Usage(err)
	}
	o.Client = client
	o.Account = &provider.Account{Client: client, Upstream: base, Model: summarize.Cheapest(o.Catalog, time.Now())(token.Model{Provider: token.Anthropic}, "")}
	return nil
}

// overCompletions has a chat talk over Chat Completions. Its own model writes records: a server on this machine has no other.
func overCompletions(s *process.Process, o *chat.Options, via http.RoundTripper) error {
	if o.Model == "" {
		return exit.Usage(errors.New("name the model: --model ID, or model: in the settings"))
	}
	who := provider.Credential{}
	if k := s.Key("OPENAI_API_KEY"); k != "" {
		who = provider.Bearer(k)
	}
	base := s.Getenv("OPENAI_BASE_URL")
	client, err := openai.New(openai.Options{Base: base, Transport: via, Credential: who, Catalog: o.Catalog})
	if err != nil {
		return exit.Usage(err)
	}
	o.Client = client
	o.Account = &provider.Account{Client: client, Upstream: base, Model: o.Model}
	return nil
}

// standIn has a chat talk to a stand-in for the Messages API inside of this process. Another one writes records.
func standIn(o *chat.Options) (func() error, error) {
	if o.Model == "" {
		o.Model = playedModel
	}
	talker, stopTalker, err := within(sandbox.Reader{Else: welcome{}})
	if err != nil {
		return nil, err
	}
	writer, stopWriter, err := within(sandbox.Summarizer{})
	o.Client = talker
	o.Account = &provider.Account{Client: writer, Upstream: standBase, Model: "claude-haiku-4-5"}
	return func() error {
		stopTalker()
		stopWriter()
		return nil
	}, err
}

// standBase is the base URL of stand-ins, which have no address.
const standBase = "http://sandbox"

// within starts a stand-in with a model and returns a client of it, and what stops it.
func within(m sandbox.Model) (*anthropic.Client, func(), error) {
	return withinOptions(sandbox.Options{Model: m})
}

// withinOptions is within for a stand-in with other options.
func withinOptions(o sandbox.Options) (*anthropic.Client, func(), error) {
	rt, stop := sandbox.New(o).Pipe()
	c, err := anthropic.New(anthropic.Options{Base: standBase, Transport: rt, Credential: provider.Key("x-api-key", "sandbox")})
	if err != nil {
		stop()
	}
	return c, stop, err
}

// A welcome is what a stand-in says to somebody who asks nothing.
type welcome struct{}

// Answer implements sandbox.Model.
func (welcome) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	text := "Noted."
	if p.Answers() == 0 {
		text += ` I am a stand-in, no model: I know what I am sent, and nothing else. Tell me something ("The deadline is Friday."), ` +
			`then ask for it ("What is the deadline?"), or have me read a file ("Read README.md").`
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: text}}}, nil
}
