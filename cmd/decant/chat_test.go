package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

// The help of decant chat, as people see it.
func TestChatHelp(t *testing.T) {
	var out, messages bytes.Buffer
	if code := run(&process.Process{Args: []string{"chat", "--help"}, Out: &out, Err: &messages, Width: 80}); code != exit.Done || messages.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, messages.String())
	}
	const golden = "testdata/chat-help.golden"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Input that does not come in time is not waited for, and that is said: who pipes in what a slow command prints must know.
func TestInputThatDoesNotComeIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, late := io.Pipe()
		var messages bytes.Buffer
		text, err := new(chatCmd).piped(&process.Process{In: in, Err: &messages}, true)
		if text != "" || err != nil || !strings.Contains(messages.String(), "no input on stdin") {
			t.Errorf("%q, %v, said is %q", text, err, messages.String())
		}
		late.Close()
	})
}
