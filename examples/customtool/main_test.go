package main

import (
	"context"
	stdjson "encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// asker is a model that asks for three parts and says what it was told.
type asker struct{}

func (asker) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	if p.Answers() == 0 {
		use := func(id, part string) sandbox.Block {
			return sandbox.Block{Kind: decant.KindUse, ID: id, Name: "stock", Input: stdjson.RawMessage(`{"part":"` + part + `"}`)}
		}
		return sandbox.Answer{Blocks: []sandbox.Block{use("toolu_1", "bolt"), use("toolu_2", "nut"), use("toolu_3", "gear")}}, nil
	}
	var told []string
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		told = append(told, b.Text)
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "I was told: " + strings.Join(told, " / ")}}}, nil
}

func TestRun(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: asker{}})
	rt, stop := s.Pipe()
	defer stop()
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), client, filepath.Join(t.TempDir(), "agent.db"), "How many bolts, nuts and gears?", &out); err != nil {
		t.Fatal(err)
	}
	if want := `I was told: bolt: 120 / nut: 80 / there is no part "gear"; there are bolt, nut and washer`; !strings.Contains(out.String(), want) {
		t.Errorf("%q is missing:\n%s", want, out.String())
	}
	if refused := s.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %+v", refused[0].Error)
	}
}
