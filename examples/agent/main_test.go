package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/provider/sandbox"
)

// lister is a model that lists the Go files and says what it has found.
type lister struct{}

func (lister) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	if p.Answers() == 0 {
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: "list", Input: jsontext.Value(`{"pattern":"*.go"}`)}}}, nil
	}
	last := p.Messages[len(p.Messages)-1].Blocks[0].Text
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "There are " + strings.ReplaceAll(last, "\n", " and ") + "."}}}, nil
}

func TestRun(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: lister{}})
	rt, stop := s.Pipe()
	defer stop()
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), client, filepath.Join(t.TempDir(), "agent.db"), "Which Go files are here?", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`[list {"pattern":"*.go"}]`, "There are main.go and main_test.go.", "(answered, 2 turns, "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	if refused := s.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %+v", refused[0].Error)
	}
}
