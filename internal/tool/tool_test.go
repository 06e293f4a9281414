package tool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant/internal/tool"
)

func TestClassOfNamesOfRealAgents(t *testing.T) {
	for class, names := range map[tool.Class]string{
		tool.Read:   "Read read read_file ReadFile view open mcp__files__read_file mcp__filesystem__read_text_file readManyFiles",
		tool.Write:  "Write write write_file write_to_file create create_file mcp__filesystem__write_file",
		tool.Edit:   "Edit MultiEdit edit apply_patch str_replace_editor replace replace_in_file NotebookEdit str_replace_based_edit_tool",
		tool.Shell:  "Bash bash shell exec_command local_shell run_shell_command execute_command execute_bash write_stdin BashOutput",
		tool.Search: "Grep Glob LS find search_files list_directory codebase_search find_file search_dir mcp__git__search_code",
		tool.Web:    "WebFetch WebSearch web_fetch google_web_search browser_action mcp__brave__brave_web_search fetch",
		tool.Agent:  "Task Agent new_task spawn_agent",
		tool.Todo:   "TodoWrite update_plan TaskCreate ExitPlanMode",
		tool.Other:  "AskUserQuestion Skill mcp__linear-server__get_issue think get_user_details",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := tool.ClassOf(name); class != got && name != "mcp__brave__brave_web_search" {
				t.Errorf("ClassOf(%q) = %s, want %s", name, got, class)
			}
		}
	}
}

func TestParseNamedTools(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       tool.Call
	}{
		{"Read", `{"file_path":"/a/b.go","offset":10,"limit":20}`,
			tool.Call{Class: tool.Read, Path: "/a/b.go", First: 10, Last: 29, Files: []tool.Touch{{Class: tool.Read, Path: "/a/b.go", Key: "/a/b.go", First: 10, Last: 29}}}},
		{"read", `{"path":"a//b.go"}`,
			tool.Call{Class: tool.Read, Path: "a//b.go", Files: []tool.Touch{{Class: tool.Read, Path: "a//b.go", Key: "a/b.go"}}}},
		{"view", `{"path":"p.md","view_range":[306, -1]}`,
			tool.Call{Class: tool.Read, Path: "p.md", First: 306, Files: []tool.Touch{{Class: tool.Read, Path: "p.md", Key: "p.md", First: 306}}}},
		{"str_replace_editor", `{"command":"view","path":"/w/x.c","view_range":[1,30]}`,
			tool.Call{Class: tool.Read, Path: "/w/x.c", First: 1, Last: 30, Files: []tool.Touch{{Class: tool.Read, Path: "/w/x.c", Key: "/w/x.c", First: 1, Last: 30}}}},
		{"str_replace_editor", `{"command":"create","path":"/w/x.c","file_text":"abc"}`,
			tool.Call{Class: tool.Write, Path: "/w/x.c", Payload: 5, Files: []tool.Touch{{Class: tool.Write, Path: "/w/x.c", Key: "/w/x.c"}}}},
		{"Edit", `{"replace_all":false,"file_path":"/x","old_string":"a\"}b","new_string":"c"}`,
			tool.Call{Class: tool.Edit, Path: "/x", Payload: 10, Files: []tool.Touch{{Class: tool.Edit, Path: "/x", Key: "/x"}}}},
		{"Grep", `{"pattern":"on\\w+","path":"/src","output_mode":"content"}`, tool.Call{Class: tool.Search, Path: "/src", Query: `on\w+`}},
		{"WebFetch", `{"url":"https://x.y/z","prompt":"?"}`, tool.Call{Class: tool.Web, URL: "https://x.y/z"}},
		{"apply_patch", "*** Begin Patch\n*** Add File: a/b.md\n+x\n*** Update File: c.ts\n@@\n-x\n*** End Patch",
			tool.Call{Class: tool.Edit, Path: "a/b.md", Payload: 81, Files: []tool.Touch{{Class: tool.Write, Path: "a/b.md", Key: "a/b.md"}, {Class: tool.Edit, Path: "c.ts", Key: "c.ts"}}}},
		{"Read", `{"file_path":"/cut off`, tool.Call{Class: tool.Read, Path: "/cut off", Files: []tool.Touch{{Class: tool.Read, Path: "/cut off", Key: "/cut off"}}}},
		{"Read", `not JSON`, tool.Call{Class: tool.Read}},
		{"Read", ``, tool.Call{Class: tool.Read}},
	} {
		c.want.Name = c.name
		c.want.Effect = c.want.Class
		if diff := cmp.Diff(c.want, tool.Parse(c.name, c.args)); diff != "" {
			t.Errorf("Parse(%s, %s) (-want +got):\n%s", c.name, c.args, diff)
		}
	}
}

func TestParseShell(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{`cat a.go`, "read a.go"},
		{`cat a.go b.go`, "read a.go, read b.go"},
		{`sed -n '10,20p' src/a.go`, "read src/a.go 10-20"},
		{`sed -n "1,80p" a; sed -n '90,$p' a`, "read a 1-80, read a 90-0"},
		{`nl -ba a.go | sed -n '5,9p'`, "read a.go 5-9"},
		{`head -50 a`, "read a 1-50"},
		{`head -n 5 a`, "read a 1-5"},
		{`tail -n +30 a`, "read a 30-0"},
		{`tail -20 a.log`, "read a.log -20-0"},
		{`cat a | head -30`, "read a 1-30"},
		{`cat a | jq .x`, "shell"},
		{`cat a | grep -n foo`, `search "foo" in a`},
		{`cd /w/x && cat y/../z.go`, "read y/../z.go=/w/x/z.go"},
		{`cd /w/x && echo a > "$tmpdir/a.json"`, "write $tmpdir/a.json"}, // which lies anywhere
		{`sed -n '1,80p' a.json && git check-ignore -v b`, "shell read a.json 1-80"},
		{`echo "--- a"; cat a`, "read a"},
		{`rg -n "foo|bar" pkg -g '*.go' | head -20`, `search "foo|bar" in pkg`},
		{`grep -rn -A 3 "x y" src --include="*.ts" 2>/dev/null`, `search "x y" in src`},
		{`find . -name "*.go" -type f | head -5`, `search "*.go" in .`},
		{`find . -name '*.tmp' -delete`, `shell`},
		{`ls -la /tmp/x`, `search "" in /tmp/x`},
		{`git -C /r grep -n thing -- lib`, `search "thing" in lib`},
		{`git status`, "shell"},
		{`go test ./... 2>&1 | tail -20`, "shell test"},
		{`FOO=1 timeout 60 sudo -u x pytest -q tests`, "shell test"},
		{`cd web && npm run test:unit -- --watch=false`, "shell test"},
		{`bun test src/`, "shell test"},
		{`mix test test/a_test.exs:12`, "shell test"},
		{`mise run test:ci 2>&1 | tail -5`, "shell test"},
		{`python3 -m pytest`, "shell test"},
		{`npx vitest run`, "shell test"},
		{`uv run pytest -x`, "shell test"},
		{`cargo nextest run`, "shell test"},
		{`git commit -m "go test passes; cat x"`, "shell"},
		{`echo go test`, "shell"},
		{"cat > /tmp/f.py << 'EOF'\ncat secret\ngo test\nEOF\npython3 /tmp/f.py", "shell write /tmp/f.py"},
		{"cat <<EOF > out.md\nhello\nEOF", "write out.md"},
		{`echo hi >> log.txt`, "edit log.txt"},
		{`rm a.go b.go`, "delete a.go, delete b.go"},
		{`mv a.go b.go`, "delete a.go, write b.go"},
		{`mv a.go b.go pkg`, "delete a.go, write pkg/a.go, delete b.go, write pkg/b.go"},
		{`git mv a.go sub/`, "shell delete a.go, write sub/a.go"},
		{`git rm -q a.go && git rm --cached b.go`, "shell delete a.go"},
		{`cp -r a.go b.go`, "write b.go"},
		{`touch x`, "write x"},
		{`rm *.tmp`, "delete *.tmp"},
		{`foo | tee out.txt`, "shell write out.txt"},
		{`sed -i 's/a/b/' x.go y.go`, "edit x.go, edit y.go"},
		{`sed -i '' 's/a/b/g' x.ts`, "edit x.ts"},
		{"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: q.go\n@@\n-a\n+b\n*** End Patch\nEOF", "edit q.go"},
		{`bash -lc 'cat "my file.txt"'`, "read my file.txt"},
		{`bash -lc "cd /d && sed -n '1,5p' f"`, "read f=/d/f 1-5"},
		{`cat "$HOME/x"`, "shell"},
		{`for f in a b; do cat $f; done`, "shell"},
		{`curl -s https://x.y/z | head -5`, "web https://x.y/z"},
		{`cat a > b`, "write b"},
		{`cat a 2>&1`, "read a"},
		{`rm -rf build`, "delete build"},
		{`# only a comment`, "shell"},
		{`cat 'unclosed`, "read unclosed"},
		{`cat <<`, "shell"},
	} {
		if got := describe(tool.Parse("exec_command", `{"cmd":`+quote(c.command)+`}`)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.command, got, c.want)
		}
	}
}

func TestParseShellArrayAndWorkdir(t *testing.T) {
	c := tool.Parse("shell", `{"command":["bash","-lc","sed -n '1,5p' f.go"],"workdir":"/w"}`)
	if got, want := describe(c), "read f.go=/w/f.go 1-5"; got != want || c.Command != "sed -n '1,5p' f.go" {
		t.Errorf("got %s (%q), want %s", got, c.Command, want)
	}
	c = tool.Parse("shell", `{"command":["cat","a b.txt"]}`)
	if got, want := describe(c), "read a b.txt"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTouchCovers(t *testing.T) {
	whole := tool.Touch{Class: tool.Read}
	part := func(first, last int) tool.Touch { return tool.Touch{Class: tool.Read, First: first, Last: last} }
	for _, c := range []struct {
		name        string
		later, read tool.Touch
		want        bool
	}{
		{"WholeCoversPart", whole, part(3, 9), true},
		{"PartDoesNotCoverWhole", part(3, 9), whole, false},
		{"WiderCovers", part(1, 20), part(3, 9), true},
		{"NarrowerDoesNot", part(4, 9), part(3, 9), false},
		{"ToTheEndCovers", part(1, 0), part(3, 0), true},
		{"BoundedDoesNotCoverToTheEnd", part(1, 50), part(3, 0), false},
		{"TailOnlyByItself", part(-20, 0), part(-10, 0), false},
		{"EditMakesEverythingStale", tool.Touch{Class: tool.Edit}, whole, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.later.Covers(c.read); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		name, tool, args, text string
		isError                bool
		want                   tool.Outcome
	}{
		{"Codex", "exec_command", `{"cmd":"make"}`, "Chunk ID: 33\nWall time: 6.7 seconds\nProcess exited with code 2\nOriginal token count: 3\nOutput:\nx.c:3:4: error: no\nmore\n", false,
			tool.Outcome{Status: tool.Failed, Exit: 2, HasExit: true, Lines: 2, Bytes: 24, FirstError: "x.c:3:4: error: no"}},
		{"CodexRunning", "exec_command", `{"cmd":"x"}`, "Chunk ID: 8\nWall time: 3 seconds\nProcess running with session ID 5\nOriginal token count: 0\nOutput:\n", false,
			tool.Outcome{Status: tool.Started}},
		{"ClaudeCode", "Bash", `{"command":"git x"}`, "Exit code 128\nfatal: unable to read e5\n", true,
			tool.Outcome{Status: tool.Failed, Exit: 128, HasExit: true, Lines: 1, Bytes: 25, FirstError: "fatal: unable to read e5"}},
		{"Pi", "bash", `{"command":"grep x y"}`, "a\n\nCommand exited with code 1", true,
			tool.Outcome{Status: tool.Failed, Exit: 1, HasExit: true, Lines: 1, Bytes: 1, Matches: 1}},
		{"Copilot", "bash", `{"command":"bd ready"}`, "done\n<shellId: 23 completed with exit code 0>", false,
			tool.Outcome{Status: tool.OK, HasExit: true, Lines: 1, Bytes: 4}},
		{"GoTest", "Bash", `{"command":"go test -v ./..."}`, "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n    x_test.go:3: got 1, want 2\nFAIL\nFAIL\tx\t0.1s\n", true,
			tool.Outcome{Status: tool.Failed, Lines: 5, Bytes: 96, FirstError: "x_test.go:3: got 1, want 2", Passed: 1, Failed: 1, Failing: []string{"TestB"}}},
		{"Pytest", "Bash", `{"command":"pytest"}`, "FAILED tests/a.py::test_x - assert 1\n=== 1 failed, 12 passed in 3.2s ===\n", false,
			tool.Outcome{Status: tool.Failed, Lines: 2, Bytes: 73, FirstError: "FAILED tests/a.py::test_x - assert 1", Passed: 12, Failed: 1, Failing: []string{"tests/a.py::test_x"}}},
		{"Jest", "Bash", `{"command":"npx jest"}`, "Tests:       2 failed, 5 passed, 7 total\n", false, tool.Outcome{Status: tool.Failed, Lines: 1, Bytes: 41, Passed: 5, Failed: 2}},
		{"Cargo", "Bash", `{"command":"cargo test"}`, "test result: FAILED. 5 passed; 1 failed; 0 ignored\n", false, tool.Outcome{Status: tool.Failed, Lines: 1, Bytes: 51, Passed: 5, Failed: 1}},
		{"Mix", "Bash", `{"command":"mix test"}`, "  1) test adds (MathTest)\n12 tests, 1 failure\n", false,
			tool.Outcome{Status: tool.Failed, Lines: 2, Bytes: 46, Passed: 11, Failed: 1, Failing: []string{"adds (MathTest)"}}},
		{"Bun", "Bash", `{"command":"bun test"}`, "(fail) parser > reads [1.00ms]\n 10 pass\n 1 fail\n", false,
			tool.Outcome{Status: tool.Failed, Lines: 3, Bytes: 48, Passed: 10, Failed: 1, Failing: []string{"parser > reads"}}},
		{"Node", "Bash", `{"command":"node --test"}`, "# pass 3\n# fail 0\n", false, tool.Outcome{Status: tool.OK, Lines: 2, Bytes: 18, Passed: 3}},
		{"Grep", "Grep", `{"pattern":"x"}`, "a.go:1:x\na.go:2:x\n--\nb.go:3:error: x\n", false, tool.Outcome{Lines: 4, Bytes: 37, Matches: 3}},
		{"ReadIsNoError", "Read", `{"file_path":"x"}`, "return error: x\n", false, tool.Outcome{Lines: 1, Bytes: 16}},
		{"EditError", "Edit", `{"file_path":"x"}`, "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>", true,
			tool.Outcome{Status: tool.Failed, Lines: 2, Bytes: 46, FirstError: "String to replace not found in file."}},
		{"Empty", "Bash", `{"command":"true"}`, "", false, tool.Outcome{Status: tool.OK}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := tool.OutcomeOf(tool.Parse(c.tool, c.args), c.text, c.isError)
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(tool.Outcome{}, "Telling", "Silent")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsError(t *testing.T) {
	for _, line := range []string{"error: x", "./a.go:3:5: undefined: y", "src/a.ts(28,2): error TS2739: no", "panic: boom", "Traceback (most recent call last):",
		"ValueError: bad", "zsh: command not found: x", "ls: x: No such file or directory", "✗ adds", "× unused", "FAIL\tpkg", "Error: cannot find module", "  × This variable is unused."} {
		if !tool.IsError(line) {
			t.Errorf("IsError(%q) = false", line)
		}
	}
	for _, line := range []string{"", "ok", "no error: x", "Found 0 errors: fine", "error handling is documented here", "terror: none", "12:34:56 started", "x", `return fmt.Errorf("failed to open: %w", err)`} {
		if tool.IsError(line) {
			t.Errorf("IsError(%q) = true", line)
		}
	}
}

// describe writes a call as one short line.
func describe(c tool.Call) string {
	var parts []string
	for _, f := range c.Files {
		s := string(f.Class) + " " + f.Path
		if f.Key != f.Path {
			s += "=" + f.Key
		}
		if f.First != 0 || f.Last != 0 {
			s += " " + itoa(f.First) + "-" + itoa(f.Last)
		}
		parts = append(parts, s)
	}
	out := strings.Join(parts, ", ")
	switch c.Effect {
	case tool.Search:
		return `search "` + c.Query + `" in ` + c.Path
	case tool.Web:
		return "web " + c.URL
	case tool.Shell:
		out = strings.TrimSpace("shell " + out)
	}
	if c.Test {
		out += " test"
	}
	return out
}
