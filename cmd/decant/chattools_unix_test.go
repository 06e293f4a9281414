//go:build unix

package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider/sandbox"
)

// A writer is a model that writes what it is told to into new.txt.
type writer struct{}

// Answer implements sandbox.Model.
func (writer) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	last := p.Messages[len(p.Messages)-1].Blocks
	b := last[len(last)-1]
	if word, ok := strings.CutPrefix(b.Text, "Write "); ok && b.Kind == decant.KindText {
		input := jsontext.Value(`{"file_path":"new.txt","content":"` + word + `\n"}`)
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: "write", Input: input}}}, nil
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "Done with it."}}}, nil
}

// Mission 004-34: what a call would change is shown before it is made, asked about, allowed for good by a rule that outlives the program, and
// taken back with the conversation.
func TestChatChangesFiles(t *testing.T) {
	api := httptest.NewServer(sandbox.New(sandbox.Options{Model: writer{}}))
	defer api.Close()
	environ := []string{"ANTHROPIC_API_KEY=test", "ANTHROPIC_BASE_URL=" + api.URL}
	s := sit(t, nil, environ, "chat", "--db", "chat.db")
	holds := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(filepath.Join(s.cmd.Dir, "new.txt")); string(b) != want {
			t.Errorf("new.txt holds %q, %v, want %q", b, err, want)
		}
	}
	s.sees("/help lists")
	s.types("Write one\r")
	s.sees("+one")
	s.sees("y: yes")
	holds("")
	s.types("n not that\r")
	s.sees("does not allow this call: not that")
	s.sees("| $0.0")
	holds("")
	s.types("Write one\r")
	s.sees("y: yes")
	s.types("y\r")
	s.sees("Done with it.")
	s.sees("| $0.0")
	holds("one\n")
	s.types("Write two\r")
	s.sees("-one")
	s.sees("+two")
	s.types("a\r")
	s.sees("allowed from now on: edit(new.txt)")
	s.sees("| $0.0")
	s.types("Write three\r")
	s.sees("-two")
	s.sees("+three")
	s.sees("| $0.0")
	holds("three\n")
	s.types("/rewind 2 both\r")
	s.sees("as they were: new.txt")
	s.sees("back to before: Write two")
	holds("one\n")
	s.types("/quit\r")
	s.ends(0)
	rules, err := filepath.Glob(filepath.Join(s.cmd.Dir, ".config", "decant", "permissions", "*.yaml"))
	if err != nil || len(rules) != 1 {
		t.Errorf("files of rules: %q, %v", rules, err)
	}
}
