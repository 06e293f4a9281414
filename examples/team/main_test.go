package main

import (
	"context"
	stdjson "encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// leader is a model that delegates to two members; as one of them it reads a file and says what it holds.
type leader struct{}

func (leader) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	last := p.Messages[len(p.Messages)-1].Blocks
	first := last[0].Text
	switch {
	case strings.HasPrefix(first, "delegation "):
		return says("All of them have answered."), nil
	case last[0].Kind == decant.KindResult:
		return says("It says: " + first), nil
	case strings.Contains(last[len(last)-1].Text, "The task:"):
		return uses("read", `{"path":"notes.txt"}`), nil
	}
	return uses("delegate", `{"to":"reader","task":"Read."}`, `{"to":"critic","task":"Criticise."}`), nil
}

func says(text string) sandbox.Answer {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: text}}}
}

func uses(tool string, inputs ...string) (a sandbox.Answer) {
	for _, in := range inputs {
		a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindUse, Name: tool, Input: stdjson.RawMessage(in)})
	}
	return a
}

func TestRun(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: leader{}})
	rt, stop := s.Pipe()
	defer stop()
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"notes.txt": {Data: []byte("remember the milk")}}
	var out strings.Builder
	if err := run(t.Context(), client, filepath.Join(t.TempDir(), "team.db"), files, "What is here?", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"critic calls read", "All of them have answered.", "(reader: answered, ", "(critic: answered, "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	if refused := s.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %+v", refused[0].Error)
	}
}
