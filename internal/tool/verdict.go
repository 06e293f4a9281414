package tool

import (
	"strings"
	"unicode"
)

// A verdict is what one line of output says of a whole run.
type verdict struct {
	good, bad bool
	of        string // of which kind of step, see class; empty: of any
}

// class groups the kinds of steps by the words in which tools report on them.
func class(kind string) string {
	switch kind {
	case "lint", "vet", "check", "typecheck", "format":
		return "check"
	case "ci", "up", "generate":
		return ""
	}
	if program, step, ok := strings.Cut(kind, " "); ok && programs[program].family == "infra" {
		return step
	}
	if strings.HasPrefix(kind, "gh ") || strings.HasPrefix(kind, "glab ") {
		return "gh"
	}
	return kind
}

// A phrase is how a line that is a verdict begins, or what it holds, in small letters.
type phrase struct{ text, of string }

// How tools of many ecosystems say that all went well, at the start of a line.
var goodStarts = []phrase{
	{"build success", ""}, {"build succeeded", ""}, {"build complete", "build"}, {"compiled successfully", "build"},
	{"✓ compiled", "build"}, {"✓ built in", "build"}, {"finished `", "build"}, {"finished dev", "build"},
	{"finished release", "build"}, {"generated ", "build"}, {"bundled ", "build"}, {"successfully built", ""},
	{"successfully tagged", ""}, {"all checks passed", "check"}, {"all matched files use prettier", "check"},
	{"success: no issues", "check"}, {"no issues found", "check"}, {"no fixes applied", "check"}, {"no errors", "check"},
	{"all done!", "check"}, {"done (passed successfully)", "check"}, {"✔ no eslint", "check"},
	{"successfully installed", "install"}, {"requirement already satisfied", "install"}, {"up to date", "install"},
	{"all dependencies are up to date", "install"}, {"already up-to-date", "install"}, {"already up to date", ""},
	{"lockfile is up to date", "install"}, {"ok (", "test"}, {"all tests passed", "test"}, {"100% tests passed", "test"},
	{"apply complete!", "apply"}, {"no changes. ", "plan"}, {"plan: ", "plan"}, {"deploy complete", "deploy"},
	{"everything up-to-date", "git push"}, {"* [new branch]", "git push"}, {"* [new tag]", "git push"},
	{"successfully rebased", "git rebase"}, {"current branch ", "git rebase"}, {"fast-forward", ""},
	{"merge made by", ""}, {"switched to ", ""}, {"already on ", ""}, {"head is now at", ""},
	{"saved working directory", "git stash"}, {"dropped ", "git stash"}, {"updated 1 path", "git checkout"},
	{"automatic merge went well", "git merge"}, {"found 0 vulnerabilities", "install"}, {"✓ ", "gh"}, {"✔ ", "gh"}, {"https://", "gh"}, {"release ", "helm"}, {"status: deployed", "helm"},
	{"build completed", "build"}, {"test run successful", "test"}, {"tests passed", "test"},
}

// The same, anywhere in a short line.
var goodParts = []phrase{
	{"compiled successfully", "build"}, {"completed successfully", ""}, {"found no issues", "check"},
	{"no offenses detected", "check"}, {"no problems found", "check"}, {"no lint errors", "check"},
	{"without errors", ""}, {"files left unchanged", "check"}, {"file left unchanged", "check"}, {"no fixes applied", "check"},
	{"build successful", ""}, {"no type errors", "check"}, {"target(s) in ", "build"},
}

// How they say that it did not, at the start of a line; "[lint] " and the like before it do not matter.
var badStarts = []string{
	"--- fail", "fail\t", "fatal:", "fatal error", "panic:", "traceback (most recent", "make: *** ", "npm err!",
	"npm error", "error ts", "error task failed", "error command failed", "error: command", "error: could not ", "error: unrecognized",
	"error: unknown", "error: failed", "error: script ", "error: process", "error: recipe", "error: aborting", "error: linking",
	"error[", "error: no ", "error: cannot", "error: unexpected", "error: invalid", "error: src refspec", "error: pathspec",
	"error: the following", "error in ./", "errors were found", "== compilation error", "** (", "build failed", "build failure", "failed to compile",
	"failure: build", "! [rejected]", "! [remote rejected]", "conflict (", "automatic merge failed", "segmentation fault",
	"command timed out", "elifecycle", "err_pnpm", "some tests failed", "test suites: 1 failed", "code style issues", "would reformat",
	"exception in thread", "nothing to commit", "no changes added to commit", "nothing added to commit", "error: unable", "error from server", "error response from daemon", "error: install",
	"error: resolution", "unhandled exception", "uncaught ", "usage error", "task failed", "tests failed", "test failed", "no packages to test", "could not find a version",
	"test run failed", "failed: ", "cannot find module", "error: cannot", "no such command",
	"error: test failed", "please commit your changes or stash", "aborting", "testing failed:",
	"build errors", "compilation failed", "compile error", "execution failed", "some checks were not successful", "error:\t",
}

// The same, anywhere in a short line.
var badParts = []string{
	": command not found", "command not found: ", "error ts", "ended with exit status ", "exited with code 1", "exited with code 2",
	"failed with exit code ", "failed with error code", "exited (1)", "error task failed", "error command failed", "elifecycle",
	"compilation failed", "permission denied (publickey", "non-fast-forward", "is not recognized as an internal", "make: *** [",
	"error(s) occurred", "some errors were emitted", "halting vm with exit status ", "done (warnings were emitted", "unrecognized subcommand", "no such file or directory (os error", "not found: unable to",
	"code style issues found", "has no attribute 'main'",
}

// maxVerdict is the longest line that is taken for a verdict.
const maxVerdict = 300

// verdictOf reads a line of output, without colours.
func verdictOf(line string) (v verdict) {
	line = strings.TrimSpace(line)
	if len(line) < 2 || len(line) > maxVerdict {
		return v
	}
	switch fields := strings.Fields(line); {
	case line == "FAIL" || strings.HasPrefix(line, "FAIL ") || strings.HasPrefix(line, "FAILED") || strings.HasPrefix(line, "FAIL:"):
		return verdict{bad: true, of: "test"}
	case line == "PASS" || line == "OK" || fields[0] == "ok" && len(fields) > 2:
		return verdict{good: true, of: "test"}
	case committed(line):
		return verdict{good: true, of: "git commit"}
	case pushed(fields):
		return verdict{good: true, of: "git push"}
	case len(fields) > 2 && hasWord("added removed changed", fields[0]) && strings.HasPrefix(fields[2], "package"):
		return verdict{good: true, of: "install"}
	case fields[0] == "Checked" && strings.Contains(line, " files in "): // what it has found follows
		return verdict{good: true, of: "check"}
	}
	if good, ok := counted(line); ok {
		return verdict{good: good, bad: !good, of: "check"}
	}
	text := line
	if i := strings.Index(line, "] "); i > 0 && i < 40 && line[0] == '[' {
		text = line[i+2:]
	}
	for _, p := range badStarts {
		if hasPrefixFold(text, p) {
			return verdict{bad: true}
		}
	}
	low := strings.ToLower(text)
	for _, p := range badParts {
		if strings.Contains(low, p) {
			return verdict{bad: true}
		}
	}
	for _, p := range goodStarts {
		if strings.HasPrefix(low, p.text) {
			return verdict{good: true, of: p.of}
		}
	}
	for _, p := range goodParts {
		if strings.Contains(low, p.text) {
			return verdict{good: true, of: p.of}
		}
	}
	return v
}

// committed recognises "[main 1a2b3c4] subject", which git prints of a commit that it made.
func committed(line string) bool {
	head, _, ok := strings.Cut(line, "] ")
	if !ok || line[0] != '[' {
		return false
	}
	words := strings.Fields(strings.TrimSuffix(head[1:], " (root-commit)"))
	return len(words) > 1 && isHash(words[len(words)-1])
}

// pushed recognises "1a2b3c4..5d6e7f8  main -> main", which git prints of a branch that it moved.
func pushed(fields []string) bool {
	if len(fields) > 0 && fields[0] == "+" {
		fields = fields[1:]
	}
	if len(fields) < 4 || fields[2] != "->" {
		return false
	}
	from, to, ok := strings.Cut(fields[0], "..")
	return ok && isHash(from) && isHash(strings.TrimPrefix(to, "."))
}

func isHash(s string) bool {
	for i := 0; i < len(s); i++ {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return len(s) >= 7
}

// counted reads a line that counts what was found: "2 issues:", "Found 0 errors.", "✖ 3 problems (0 errors, 3 warnings)".
func counted(line string) (good, ok bool) {
	words := strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) < 2 || len(words) > 16 || !counting(words[0], line) {
		return false, false
	}
	found := -1
	for i, w := range words {
		n := -1
		if i > 0 {
			if n = natural(words[i-1]); n < 0 && words[i-1] == "no" {
				n = 0
			}
			if k := i - 4; n < 0 && k >= 0 && words[k] == "found" { // found 1 code readability issue
				n = natural(words[k+1])
			}
		}
		switch strings.ToLower(w) {
		case "error", "errors":
			if n >= 0 {
				return n == 0, true
			}
		case "issue", "issues", "problem", "problems", "offense", "offenses", "violation", "violations", "diagnostics":
			if n >= 0 && found < 0 {
				found = n
			}
		}
	}
	return found == 0, found >= 0
}

// counting reports whether a line that begins with the word may be a summary of what was found.
func counting(first, line string) bool {
	if natural(first) >= 0 {
		return !strings.Contains(line[:min(len(line), 12)], ":") || strings.HasSuffix(line, ":") // not a time, not a place in a file
	}
	switch strings.ToLower(first) {
	case "found", "checked", "total", "compiled", "finished", "result", "results", "no", "linted", "summary", "lint", "webpack", "build":
		return true
	}
	return false
}
