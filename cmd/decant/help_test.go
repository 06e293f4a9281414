package main

import (
	"bytes"
	"os"
	"testing"

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
