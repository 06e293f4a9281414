package tool_test

import (
	"testing"

	"github.com/decantdev/decant/internal/tool"
)

func TestDefines(t *testing.T) {
	for _, c := range []struct {
		line, name string
		sure       bool
	}{
		{"func (s *Store) Commit(ctx context.Context) error {", "Commit", true},
		{"  12→type Options struct {", "Options", true},
		{"export async function loadAll() {", "loadAll", true},
		{"    def handle_event(self):", "handle_event", true},
		{"const maxTries = 8", "maxTries", false},
		{"+export const retryLimit = 3;", "retryLimit", false},
		{"x := list[0]", "", false},
		{"if err != nil {", "", false},
		{"let it = 1", "", false},
		{"", "", false},
	} {
		if name, sure := tool.Defines(c.line); name != c.name || sure != c.sure {
			t.Errorf("Defines(%q) = %q, %v, want %q, %v", c.line, name, sure, c.name, c.sure)
		}
	}
}

func TestRoutine(t *testing.T) {
	for line, want := range map[string]bool{"=== RUN   TestX": true, "ok  \tpkg\t0.1s": true, "    --- PASS: TestX (0.00s)": true, "--- FAIL: TestX": false, "okay then": false} {
		if got := tool.Routine(line); got != want {
			t.Errorf("Routine(%q) = %v, want %v", line, got, want)
		}
	}
}
