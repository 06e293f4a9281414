package main

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// writer is a model that writes a file in each of its first four answers.
type writer struct{}

func (writer) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	n := p.Answers()
	if n == 4 {
		last := p.Messages[len(p.Messages)-1].Blocks[0].Text
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "At last: " + last}}}, nil
	}
	in := fmt.Sprintf(`{"file_path":"%s","content":"%d\n"}`, []string{"a/1", "b/2", "a/3", "c/4"}[n], n+1)
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, ID: fmt.Sprintf("toolu_%d", n), Name: "write", Input: stdjson.RawMessage(in)}}}, nil
}

// The first write is allowed always, the second once, the third is like the first, and the fourth is denied with a reason.
func TestRun(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: writer{}})
	rt, stop := s.Pipe()
	defer stop()
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var out strings.Builder
	answers := strings.NewReader("a\ny\nnot there\n")
	if err := run(t.Context(), client, dir, filepath.Join(t.TempDir(), "agent.db"), "Write.", answers, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--- /dev/null\n+++ b/a/1\n", "+1\n", "[a]lways [edit(a/**)]", "At last: The user does not allow this call: not there"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "Allow write?"); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	for name, want := range map[string]string{"a/1": "1\n", "b/2": "2\n", "a/3": "3\n", "c/4": ""} {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if refused := s.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %+v", refused[0].Error)
	}
}
