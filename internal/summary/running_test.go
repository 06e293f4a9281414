package summary_test

import (
	"strings"
	"testing"
)

// The state of the work is what has come of commands: of one that still runs nothing has, and what is known
// of that command, or of another, is what the last one that has ended said.
func TestACommandThatStillRunsIsNoState(t *testing.T) {
	const (
		start      = "-- m1 user --\nMake the tests pass.\n"
		codex      = "Chunk ID: 8\nWall time: 3 seconds\n"
		running    = codex + "Process running with session ID 5\nOutput:\n"
		ended      = codex + "Process exited with code 0\nOutput:\nok  \tpkg\t0.1s\n"
		failed     = codex + "Process exited with code 1\nOutput:\n--- FAIL: TestParse (0.00s)\nFAIL\n"
		unanswered = "-- m30 call c3 exec_command --\n{\"cmd\":\"go test ./pkg\"}\n"
		more       = "-- m8 call z exec_command --\n{\"cmd\":\"git commit -m x\"}\n-- m9 result z --\n" + codex + "Process exited with code 0\nOutput:\n[main 1a2b3c4] x\n"
	)
	// a record is smaller than its source
	filler := "-- m7 model --\n" + strings.Repeat("The parser has to look one token further ahead before it decides. ", 12) + "\n"
	test := func(m, result string) string {
		return "-- m" + m + "0 call c" + m + " exec_command --\n{\"cmd\":\"go test ./pkg\"}\n-- m" + m + "1 result c" + m + " --\n" + result
	}
	for name, c := range map[string]struct {
		calls string
		state []string // lines of the state about tests
	}{
		"it has ended":               {test("2", ended), []string{"m20 $ go test ./pkg → ok pkg 0.1s"}},
		"it runs":                    {test("2", running), nil},
		"it runs after one that did": {test("2", ended) + test("3", running), []string{"m20 $ go test ./pkg → ok pkg 0.1s"}},
		"it runs after one that fell": {test("2", failed) + test("3", running),
			[]string{"m20 $ go test ./pkg → 1 failed: TestParse"}},
		"nothing is known of it yet": {test("2", failed) + unanswered,
			[]string{"m20 $ go test ./pkg → 1 failed: TestParse"}},
		"it was put right": {test("2", failed) + test("3", ended), []string{"m30 $ go test ./pkg → ok pkg 0.1s"}},
		"it has not begun": {unanswered, nil},
		"it ran, and has ended": {test("2", running) + test("3", failed),
			[]string{"m30 $ go test ./pkg → 1 failed: TestParse"}},
	} {
		state := sections(extract(t, talk(t, start+filler+more+c.calls+"-- m90 model --\nI will see what comes of it.\n"), 2000))["State"]
		var got []string
		for line := range strings.Lines(state) {
			if strings.Contains(line, "go test") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.state, "\n") || !strings.Contains(state, "git commit") {
			t.Errorf("%s: the state is\n%s\nwant of tests %q", name, state, c.state)
		}
	}
}
