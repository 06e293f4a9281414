package tool_test

import (
	"testing"

	"github.com/decantdev/decant/internal/tool"
)

// A call has done its work unless its exit status or a count of failures says otherwise. Behind a pipe the
// status is that of the last command, so that the count alone tells.
func TestWhatACallSaysOfItsWork(t *testing.T) {
	for name, c := range map[string]struct {
		command, text string
		bad           bool
	}{
		"passed":                     {`go test ./x`, "ok  \tx\t0.1s\n", false},
		"passed, with a status":      {`go test ./x`, "ok  \tx\t0.1s\n\nCommand exited with code 0", false},
		"a status":                   {`make`, "cc: fatal\n\nCommand exited with code 2", true},
		"a negative status":          {`make`, "killed\n\nCommand exited with code -9", true},
		"failures and a status":      {`go test ./x`, "--- FAIL: TestA (0.00s)\nFAIL\n\nCommand exited with code 1", true},
		"failures, no status":        {`go test ./x`, "--- FAIL: TestA (0.00s)\nFAIL\n", true},
		"failures behind a pipe":     {`go test ./x 2>&1 | tail -5`, "--- FAIL: TestA (0.00s)\nFAIL\tx\t0.1s\n\nCommand exited with code 0", true},
		"one of many behind a pipe":  {`pytest | tail -1`, "=== 1 failed, 12 passed in 3.2s ===\n\nCommand exited with code 0", true},
		"all passed behind a pipe":   {`pytest | tail -1`, "=== 13 passed in 3.2s ===\n\nCommand exited with code 0", false},
		"no failures, and a status":  {`node --test`, "# pass 3\n# fail 0\n\nCommand exited with code 1", true},
		"no failures behind a pipe":  {`node --test | tail -2`, "# pass 3\n# fail 0\n\nCommand exited with code 0", false},
		"nothing said":               {`true`, "", false},
		"it still runs, none failed": {`go test ./...`, "Chunk ID: 8\nWall time: 3 seconds\nProcess running with session ID 5\nOutput:\n", false},
	} {
		o := tool.OutcomeOf(tool.Parse("bash", `{"command":"`+c.command+`"}`), c.text, false)
		if o.Bad() != c.bad {
			t.Errorf("%s: bad is %v: %+v", name, o.Bad(), o)
		}
	}
}
