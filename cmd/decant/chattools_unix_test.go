//go:build unix

package main

import (
	"context"
	stdjson "encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

// A writer is a model that writes what it is told to into new.txt.
type writer struct{}

// Answer implements sandbox.Model.
func (writer) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	last := p.Messages[len(p.Messages)-1].Blocks
	b := last[len(last)-1]
	if word, ok := strings.CutPrefix(b.Text, "Write "); ok && b.Kind == decant.KindText {
		input := stdjson.RawMessage(`{"file_path":"new.txt","content":"` + word + `\n"}`)
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: "write", Input: input}}}, nil
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "Done with it."}}}, nil
}

// What calls have changed in files is taken back in another process, too, of a fork as well; what a person has changed since is not
// touched. What was kept for that goes with the session.
func TestChatTakesFilesBackAfterARestart(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(sandbox.New(sandbox.Options{Model: writer{}}))
	defer api.Close()
	environ := []string{"ANTHROPIC_API_KEY=test", "ANTHROPIC_BASE_URL=" + api.URL}
	s := sit(t, nil, environ, "chat", "--db", "chat.db", "--allow", "edit")
	dir := s.cmd.Dir
	holds := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(filepath.Join(dir, "new.txt")); string(b) != want {
			t.Errorf("new.txt holds %q, %v, want %q", b, err, want)
		}
	}
	s.sees("/help lists")
	for _, word := range []string{"one", "two", "three"} {
		s.types("Write " + word + "\r")
		s.sees("+" + word)
		s.sees("| $0.0")
	}
	holds("three\n")
	s.types("/quit\r")
	s.ends(0)

	s = sitIn(t, dir, environ, "chat", "--db", "chat.db", "-c")
	s.sees("/help lists")
	s.types("/rewind 1 both\r")
	s.sees("as they were: new.txt")
	s.sees("back to before: Write three")
	holds("two\n")
	s.types("/quit\r")
	s.ends(0)

	if err := os.WriteFile(filepath.Join(dir, "new.txt"), []byte("by a person\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = sitIn(t, dir, environ, "chat", "--db", "chat.db", "-c", "--fork-session")
	s.sees("/help lists")
	s.types("/rewind 1 files\r")
	s.sees("have changed since: new.txt")
	holds("by a person\n")
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.types("/rewind 2 files\r")
	s.sees("as they were: new.txt")
	holds("")
	s.types("/quit\r")
	s.ends(0)

	if kept, err := filepath.Glob(filepath.Join(dir, "chat.db-files", "*")); err != nil || len(kept) != 2 {
		t.Errorf("kept: %q, %v", kept, err)
	}
	s = sitIn(t, dir, environ, "forget", "last", "--yes", "--db", "chat.db")
	s.ends(0)
	if kept, err := filepath.Glob(filepath.Join(dir, "chat.db-files", "*")); err != nil || len(kept) != 1 { // of the one that is left
		t.Errorf("kept of sessions that are forgotten: %q, %v", kept, err)
	}
}

// What a call would change is shown before it is made, asked about, allowed for good by a rule that outlives the program, and
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

// A peeker looks into a file with a command, and says what it has seen.
type peeker struct{ file string }

// Answer implements sandbox.Model.
func (m peeker) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	last := p.Messages[len(p.Messages)-1].Blocks
	if r := last[len(last)-1]; r.Kind == decant.KindResult {
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "seen: " + r.Text}}}, nil
	}
	b, err := json.Marshal(map[string]string{"command": "echo looking; head -c 13 " + m.file})
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: "bash", Input: b}}}, err
}

// The database has the conversations of all projects: no command of an agent reads it.
func TestCommandsDoNotSeeTheDatabase(t *testing.T) {
	dir, err := os.MkdirTemp(".", "database-") // a folder for what is temporary is hidden from commands as it is
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "all.db")
	api := httptest.NewServer(sandbox.New(sandbox.Options{Model: peeker{db}}))
	defer api.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "decant")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "chat", "--db", db, "--allow", "bash", "-p", "Look.")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "ANTHROPIC_API_KEY=test", "ANTHROPIC_BASE_URL="+api.URL)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "seen: ") || strings.Contains(string(out), "SQLite format") {
		t.Errorf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(db); err != nil || !strings.HasPrefix(string(b), "SQLite format") {
		t.Errorf("there was nothing to see: %v", err)
	}
}
