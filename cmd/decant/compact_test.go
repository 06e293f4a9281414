package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/testing/testkit"
)

// The result of a compaction does not fill a screen that nobody asked it to fill.
func TestCompactAsksWhereTheResultGoes(t *testing.T) {
	const file = "../../testdata/claude-code-session.jsonl.gz"
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"--to", "10%", file}, exit.BadUsage},
		{[]string{"--to", "10%", "-o", "-", file}, exit.Done},
		{[]string{"--to", "10%", "--dry-run", file}, exit.Done},
		{[]string{"--to", "10%", "--as", "text", file}, exit.Done}, // which is for reading
	} {
		var out, messages bytes.Buffer
		code := run(&process.Process{Args: append([]string{"compact"}, c.args...), Out: &out, Err: &messages, Width: 80, Shown: true})
		if code != c.code || code == exit.BadUsage && (out.Len() > 0 || !strings.Contains(messages.String(), "--output FILE")) {
			t.Errorf("compact %q at a terminal ends with %d, want %d: %s", c.args, code, c.code, messages.String())
		}
	}
}

// Of one session 20% of the size kept 54% of what matters, and 10% kept 85%. More room keeps no less, but
// for a point of rounding.
func TestMoreRoomKeepsNoLess(t *testing.T) {
	t.Parallel()
	kept := regexp.MustCompile(`(\d+)% of the exact strings`)
	for _, name := range testkit.Depth([]string{"claude-code-session"}, []string{"claude-code-session", "codex-session"}) {
		before := 0
		for _, to := range []string{"5%", "10%", "20%", "40%", "80%"} {
			var out, messages bytes.Buffer
			args := []string{"compact", "--dry-run", "--to", to, "../../testdata/" + name + ".jsonl.gz"}
			if code := run(&process.Process{Args: args, Out: &out, Err: &messages, Width: 80}); code != exit.Done {
				t.Fatalf("%q ends with %d: %s", args, code, messages.String())
			}
			m := kept.FindStringSubmatch(messages.String())
			if m == nil {
				t.Fatalf("%q says nothing of what is kept: %s", args, messages.String())
			}
			n, err := strconv.Atoi(m[1])
			if err != nil || n < before-1 {
				t.Errorf("%s to %s keeps %s%%, and less room kept %d%%: %v", name, to, m[1], before, err)
			}
			before = n
		}
	}
}
