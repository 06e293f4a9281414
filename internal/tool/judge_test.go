package tool_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/decantdev/decant/internal/tool"
)

var statusNames = map[tool.Status]string{
	tool.OK: "ok", tool.Failed: "failed", tool.Started: "started", tool.Refused: "refused", tool.Unknown: "",
}

// What real builds, tests and commits came to was read by hand. What is said to have gone well or not did, and of
// those that say how they went most are said.
func TestOutcomesOfRealSessions(t *testing.T) {
	f, err := os.Open("testdata/outcomes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type count struct{ said, right, stated, found int }
	all := map[string]*count{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			Project, Tool, Args, Text, Want string
			Flagged                         bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if all[c.Project] == nil {
			all[c.Project] = &count{}
		}
		n := all[c.Project]
		got := statusNames[tool.OutcomeOf(tool.Parse(c.Tool, c.Args), c.Text, c.Flagged).Status]
		told := got == "ok" || got == "failed"
		states := c.Want == "ok" || c.Want == "failed"
		if told {
			n.said++
		}
		if states {
			n.stated++
		}
		if told && got == c.Want {
			n.right++
			n.found++
		}
		if got != c.Want && (told || !states) {
			t.Errorf("%s: %s\n%s\ngot %q, want %q", c.Project, c.Args, c.Text, got, c.Want)
		}
	}
	total := 0
	for project, n := range all {
		total += n.said
		t.Logf("%s: %d of %d said are right, %d of %d stated are found", project, n.right, n.said, n.found, n.stated)
		if float64(n.right) < .995*float64(n.said) || float64(n.found) < .85*float64(n.stated) {
			t.Errorf("%s: %d of %d said are right, %d of %d stated are found", project, n.right, n.said, n.found, n.stated)
		}
	}
	if total < 200 {
		t.Errorf("only %d outcomes", total)
	}
}

// The exit status of a shell text is not that of every command in it; what the tools of many ecosystems say is.
func TestStatusOfSteps(t *testing.T) {
	for _, c := range []struct{ command, text, want string }{
		{"go test ./...", "ok  \tx\t0.1s", "ok"},
		{"go test ./... | tail -5", "ok  \tx\t0.1s", "ok"},
		{"go test ./... | tail -5", "    x_test.go:12: looks fine", ""},
		{"go test ./... | head -1", "ok  \tx\t0.1s", ""}, // the rest is cut off
		{"go test ./... | grep ok", "ok  \tx\t0.1s", ""}, // the failures are filtered
		{"go build ./... 2>&1 | tail -3", "", ""},
		{"go build ./... 2>&1 | tail -3", "./a.go:3:5: undefined: y", "failed"},
		{"set -o pipefail; go build ./... | tail -3", "", "ok"},
		{"make lint; true", "", ""},
		{"make lint || true", "", ""},
		{"make lint || exit 1", "", "ok"},
		{"make lint; ls", "a b", ""},
		{"make lint && ls", "a b", "ok"},
		{"make lint | tail -1; echo done", "done", ""},
		{"go build ./... | tail -1 && echo BUILD SUCCESS", "BUILD SUCCESS", ""}, // tail went well, and says nothing of the build
		{"make lint && echo passed || echo broken", "broken", "failed"},
		{"make lint && echo passed || echo broken", "passed", "ok"},
		{`npm test; echo "exit: $?"`, "some\nexit: 1", "failed"},
		{`npm test 2>&1 | tail -3; echo "exit ${PIPESTATUS[0]}"`, "exit 0", "ok"},
		{`npm test 2>&1 | tail -3; echo "exit $?"`, "exit 0", ""},
		{"if make lint; then echo y; fi", "y", ""},
		{"npm run dev &", "[1] 4242", "started"},
		{"bash -c 'cd x && pytest | tail -2'", "3 passed in 0.1s", "ok"},
		{"bash -c 'pytest | tail -2'", "...", ""},
		{"npx tsc --noEmit 2>&1 | tail -20", "src/a.ts(3,1): error TS2339: no such property", "failed"},
		{"mise run lint 2>&1 | tail -50", "1 issues:\n* gosec: 1\n[lint] ERROR task failed", "failed"},
		{"rtk bun run test 2>&1 | tail -3", "error: unrecognized subcommand 'bun'", "failed"},
		{"docker compose exec web pytest -q | tail -1", "=== 43 passed, 1 failed in 3.2s ===", "failed"},
		{"uv run pytest | tail -1", "43 of 46 tests passed, coverage: 88 %", "failed"},
		{"uv run ruff check . | tail -1", "All checks passed!", "ok"},
		{"poetry run mypy . | tail -1", "Found 3 errors in 2 files (checked 9 source files)", "failed"},
		{"cargo clippy 2>&1 | tail -2", "error: could not compile `x` (lib) due to 2 previous errors", "failed"},
		{"cargo build 2>&1 | tail -1", "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 3.04s", "ok"},
		{"cargo test 2>&1 | tail -2", "test result: ok. 12 passed; 0 failed; 0 ignored", "ok"},
		{"cargo test 2>&1 | tail -2", "thread 'x' panicked at src/lib.rs:3:5:\ntest result: FAILED. 1 passed; 1 failed", "failed"},
		{"./gradlew build | tail -3", "BUILD SUCCESSFUL in 3s", "ok"},
		{"mvn -q verify | tail -3", "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS", "ok"},
		{"mvn verify | tail -3", "[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE", "failed"},
		{"dotnet test | tail -1", "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5", "ok"},
		{"dotnet build | tail -2", "Build FAILED.\n    3 Error(s)", "failed"},
		{"bundle exec rspec | tail -1", "10 examples, 2 failures", "failed"},
		{"bundle exec rubocop | tail -1", "32 files inspected, no offenses detected", "ok"},
		{"vendor/bin/phpunit | tail -1", "OK (5 tests, 10 assertions)", "ok"},
		{"vendor/bin/phpunit | tail -1", "Tests: 5, Assertions: 10, Failures: 1.", "failed"},
		{"swift test 2>&1 | tail -1", "Executed 5 tests, with 0 failures (0 unexpected) in 0.01 seconds", "ok"},
		{"npm run lint 2>&1 | tail -2", "✖ 3 problems (0 errors, 3 warnings)", "ok"},
		{"npm run lint 2>&1 | tail -2", "✖ 3 problems (1 error, 2 warnings)", "failed"},
		{"npx vitest run | tail -4", " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 19 passed (20)", "failed"},
		{"npx prettier --check . | tail -1", "[warn] Code style issues found in 2 files. Run Prettier with --write to fix.", "failed"},
		{"pip install -r r.txt | tail -1", "Successfully installed a-1.0", "ok"},
		{"terraform apply -auto-approve | tail -1", "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.", "ok"},
		{"git push 2>&1 | tail -1", "   1a2b3c4d..5e6f7a8b  main -> main", "ok"},
		{"git push 2>&1 | tail -2", " ! [rejected]        main -> main (non-fast-forward)", "failed"},
		{"git commit -m x | tail -3", "[main 1a2b3c4] x\n 1 file changed, 2 insertions(+)", "ok"},
		{"git commit -m x; git status", "nothing to commit, working tree clean", "failed"},
		{"python -m pytest | tail -3", "Traceback (most recent call last):\n  x\nModuleNotFoundError: no module", "failed"},
		{"make test | tail -1", "make: *** [Makefile:3: test] Error 2", "failed"},
		{"npm test && npm run lint | tail -3", "added 3 packages", ""},
	} {
		args, _ := json.Marshal(map[string]string{"command": c.command})
		got := statusNames[tool.OutcomeOf(tool.Parse("Bash", string(args)), c.text, false).Status]
		if got != c.want {
			t.Errorf("%s\n%s\ngot %q, want %q", c.command, c.text, got, c.want)
		}
	}
}

// Clients name exit statuses, and say that something still runs, in forms of their own.
func TestStatusInTheFormsOfClients(t *testing.T) {
	for name, c := range map[string]struct {
		tool, text string
		flagged    bool
		want       string
	}{
		"Claude Code, in the background": {"Bash", "Command running in background with ID: b7f3k9q2. Output is being written to: /t/b7.output", false, "started"},
		"Claude Code, moved there":       {"Bash", "Command was manually backgrounded by user with ID: b7f3k9q2", false, "started"},
		"Claude Code, failed":            {"Bash", "Exit code 1\nboom", true, "failed"},
		"Claude Code, refused":           {"Bash", "The user doesn't want to proceed with this tool use. The tool use was rejected", true, "refused"},
		"Claude Code, poll":              {"Bash", "<status>completed</status>\n\n<exit_code>1</exit_code>\n\n<stdout>\nx\n</stdout>", false, "failed"},
		"Claude Code, poll, runs":        {"Bash", "<retrieval_status>timeout</retrieval_status>\n<status>running</status>", false, "started"},
		"Codex":                          {"exec_command", "Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\nfine", false, "ok"},
		"Codex, runs":                    {"exec_command", "Chunk ID: 1\nWall time: 1 seconds\nProcess running with session ID 51473\nOutput:\n", false, "started"},
		"Codex, as it was":               {"shell", `{"output":"fine\n","metadata":{"exit_code":0,"duration_seconds":0.1}}`, false, "ok"},
		"Codex, as it was, failed":       {"shell", `{"output":"boom\n","metadata":{"exit_code":2,"duration_seconds":0.1}}`, false, "failed"},
		"pi":                             {"bash", "boom\n\nCommand exited with code 2", true, "failed"},
		"Gemini":                         {"run_shell_command", "Output: x\nExit Code: 1\nSignal: (none)\nBackground PIDs: (none)", false, "failed"},
		"MCP":                            {"mcp__sh__execute_command", `{"content":[{"type":"text","text":"boom"}],"isError":true}`, false, "failed"},
		"OpenHands":                      {"execute_bash", "fine\n[The command completed with exit code 0.]", false, "ok"},
		"no word of it":                  {"bash", "fine", false, ""},
	} {
		got := statusNames[tool.OutcomeOf(tool.Parse(c.tool, `{"command":"make all"}`), c.text, c.flagged).Status]
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// What is done again as widely takes the place of what was done before, under whatever name.
func TestCovers(t *testing.T) {
	step := func(command string) tool.Step {
		args, _ := json.Marshal(map[string]string{"command": command})
		c := tool.Parse("Bash", string(args))
		steps := c.Steps()
		if len(steps) != 1 {
			t.Fatalf("%s: %d steps", command, len(steps))
		}
		return steps[0]
	}
	for _, c := range []struct {
		newer, older string
		want         bool
	}{
		{"npm run lint", "npm run lint:fix", true},
		{"npm run lint", "npx eslint . --fix", true},
		{"pnpm typecheck", "npx tsc --noEmit", true},
		{"make test", "go test ./...", true},
		{"go test ./...", "make test", false},
		{"pytest", "pytest -k x", true},
		{"pytest -k x", "pytest", false},
		{"pytest tests/a.py", "pytest tests/a.py::test_x", true},
		{"pytest tests/a.py", "pytest tests/b.py", false},
		{"go test ./internal/...", "go test ./internal/tool", true},
		{"go test ./internal/tool", "go test ./internal/tool -run X", true},
		{"go test ./...", "go test -race ./...", false},
		{"git -C d push", "cd d && git push", true},
		{"cd a && npm test", "cd b && npm test", false},
		{"FOO=1 timeout 60 nice uv run pytest", "python -m pytest", true},
		{"docker compose exec web npm test", "npm run test:unit", true},
		{"sudo git push", "git commit -m x", false},
		{"git ls-files | xargs npx eslint", "npx eslint src/a.ts", true},
		{"mise exec -- cargo test", "cargo nextest run", true},
		{"go test ./...", "go vet ./...", false},
	} {
		newer, older := step(c.newer), step(c.older)
		if got := newer.Covers(&older); got != c.want {
			t.Errorf("%q covers %q: got %v\n%+v\n%+v", c.newer, c.older, got, newer, older)
		}
	}
}

// The lines that say how a run ended are told with it: counts, coverage, changed files.
func TestTelling(t *testing.T) {
	for command, c := range map[string]struct {
		text string
		want []string
	}{
		"pytest --cov":    {"x\nTOTAL  120  14  88%\n=== 43 passed in 3.2s ===", []string{"TOTAL  120  14  88%", "43 passed in 3.2s"}},
		"npm test":        {"43 of 46 tests passed, coverage: 88 %", []string{"43 of 46 tests passed, coverage: 88 %"}},
		"git commit -m x": {"[main 1a2b3c4] x\n 3 files changed, 10 insertions(+), 2 deletions(-)", []string{"[main 1a2b3c4] x", "3 files changed, 10 insertions(+), 2 deletions(-)"}},
		"go test -cover":  {"ok  \ta\t0.1s\tcoverage: 81.2% of statements\nok  \tb\t0.2s\tcoverage: 70.0% of statements", []string{"ok  \tb\t0.2s\tcoverage: 70.0% of statements"}},
	} {
		o := tool.OutcomeOf(tool.Parse("Bash", `{"command":"`+command+`"}`), c.text, false)
		if !slices.Equal(o.Telling, c.want) {
			t.Errorf("%s: got %q, want %q", command, o.Telling, c.want)
		}
	}
}
