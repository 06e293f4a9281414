package main

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// playedModel is the model that a stand-in plays in a chat that names none: one whose provider compacts nothing by itself, so that what
// Decant does is seen.
const playedModel = "claude-haiku-4-5"

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
	o.Account = &provider.Account{Client: writer, Upstream: standBase}
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
