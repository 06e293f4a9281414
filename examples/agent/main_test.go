package main

import (
	"context"
	stdjson "encoding/json"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

// lister is a model that lists the Go files and says what it has found.
type lister struct{}

func (lister) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	if p.Answers() == 0 {
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: "list", Input: stdjson.RawMessage(`{"pattern":"*.go"}`)}}}, nil
	}
	last := p.Messages[len(p.Messages)-1].Blocks[0].Text
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "There are " + strings.ReplaceAll(last, "\n", " and ") + "."}}}, nil
}

// The program is run as a user runs it: the environment says where the model is, and the files are those of the folder.
func TestRun(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: lister{}})
	srv := httptest.NewServer(s)
	defer srv.Close()
	t.Setenv("ANTHROPIC_BASE_URL", srv.URL)
	t.Setenv("ANTHROPIC_API_KEY", "test")
	t.Chdir(t.TempDir())
	for _, name := range []string{"main.go", "main_test.go"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), "Which Go files are here?", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`[list {"pattern":"*.go"}]`, "There are main.go and main_test.go.", "(answered; turns: 2, "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	if refused := s.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %+v", refused[0].Error)
	}
}
