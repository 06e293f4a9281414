package summary

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// Bounds of what is said of the state of the work.
const (
	mostOutcomes = 8    // newest outcomes of different commands
	errorChars   = 1500 // of the newest failing error
	lastChars    = 900  // of the model's last words
)

// takeState takes in the state of the work: the newest outcome of each build, test and other command that
// says so, the newest error that nothing has put right since, and what happened last.
func (b *book) takeState() {
	seen := map[string]bool{}
	stated := map[*act]bool{} // whose outcome is said
	failing := false
	for i := len(b.src.acts) - 1; i >= 0 && len(seen) < mostOutcomes; i-- {
		a := b.src.acts[i]
		what := a.tells()
		if what == "" || seen[what] || !a.done || a.outcome.Running {
			continue
		}
		seen[what] = true
		stated[a] = true
		g := b.heading("", i)
		b.add(entry{sec: secState, group: g, number: a.number, text: a.outcomeLine(), line: -1, must: mustState})
		if a.failed && !failing && !b.noResults {
			failing = true
			if e := a.error(b.errorRoom()); e != "" {
				b.add(entry{sec: secState, group: g, number: a.number, text: e, line: -1, must: mustState})
			}
		}
	}
	b.takePlace()
	b.takeLast(stated)
}

// takePlace takes in where commands were run last.
func (b *book) takePlace() {
	for i := len(b.src.acts) - 1; i >= 0; i-- {
		if a := b.src.acts[i]; a.Dir != "" {
			b.add(entry{
				sec: secState, group: b.heading("", len(b.src.acts)), number: a.number,
				text: b.say("commands run in ", "命令运行于 ") + a.Dir, line: -1, must: mustState,
			})
			b.lex.see(b.lex.line(a.Dir, false), a.index, decant.AuthorModel)
			return
		}
	}
}

// takeLast takes in the model's last words and the newest call.
func (b *book) takeLast(stated map[*act]bool) {
	if n := len(b.src.acts); n > 0 && b.src.acts[n-1].Class != tool.Todo && !stated[b.src.acts[n-1]] {
		a := b.src.acts[n-1]
		b.add(entry{sec: secLast, group: -1, text: a.outcomeLine(), line: -1, number: a.number, must: mustState})
	}
	for i := len(b.src.texts) - 1; i >= 0; i-- {
		t := b.src.texts[i]
		if t.author != byModel {
			continue
		}
		if t.number > 0 && b.src.to-t.number > 6 {
			return
		}
		ls := lines(t.body)
		n, k := 0, len(ls)
		for k > 0 && n+len(ls[k-1]) <= lastChars {
			n += len(ls[k-1]) + 1
			k--
		}
		if k < len(ls) {
			b.add(entry{sec: secLast, group: -1, text: strings.Join(ls[k:], "\n"), line: -1, number: t.number, must: mustState})
		}
		return
	}
}

// tells returns what the outcome of a call is an outcome of: "go test", "git commit"; empty when it is no
// state of the work.
func (a *act) tells() string {
	if a.Command == "" {
		return ""
	}
	for part := range strings.FieldsFuncSeq(a.Command, func(r rune) bool {
		return r == '\n' || r == ';' ||
			r == '&' || r == '|'
	}) {
		words := strings.Fields(part)
		for len(words) > 1 && (strings.Contains(words[0], "=") || words[0] == "sudo" || words[0] == "time" ||
			words[0] == "env" || words[0] == "npx" || words[0] == "timeout") {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		if w := stateOf(words); w != "" {
			return w
		}
	}
	if a.Test {
		return "test"
	}
	return ""
}

// builders are programs whose outcome is a state of the work whatever their arguments are, and those of
// which an argument says it.
var (
	builders = map[string]bool{
		"make": true, "tsc": true, "pytest": true, "jest": true, "vitest": true, "eslint": true,
		"golangci-lint": true, "staticcheck": true, "mypy": true, "ruff": true, "gradle": true, "mvn": true,
		"ninja": true, "cmake": true, "tox": true, "rspec": true, "phpunit": true, "flake8": true,
		"black": true,
	}
	managers = map[string]bool{
		"go": true, "cargo": true, "npm": true, "pnpm": true, "yarn": true, "bun": true, "mix": true,
		"mise": true, "just": true, "task": true, "dotnet": true, "rake": true, "poetry": true, "uv": true,
		"pip": true, "docker": true, "terraform": true, "bazel": true, "swift": true, "deno": true,
	}
	states = map[string]bool{
		"test": true, "build": true, "vet": true, "check": true, "lint": true, "clippy": true, "fmt": true,
		"compile": true, "install": true, "typecheck": true, "tidy": true, "ci": true, "plan": true,
		"apply": true, "format": true, "publish": true, "deploy": true,
	}
	gitSteps = map[string]bool{
		"commit": true, "push": true, "pull": true, "merge": true, "rebase": true, "checkout": true,
		"switch": true, "stash": true, "reset": true, "tag": true, "cherry-pick": true, "revert": true,
	}
)

// stateOf returns the subject of a simple command's outcome, or "".
func stateOf(words []string) string {
	program := words[0][strings.LastIndexByte(words[0], '/')+1:]
	switch {
	case builders[program]:
		return program
	case program == "git" && len(words) > 1 && gitSteps[words[1]]:
		return "git " + words[1]
	case program == "gh" && len(words) > 2 && (words[2] == "create" || words[2] == "merge" || words[2] == "close"):
		return "gh " + words[1] + " " + words[2]
	case !managers[program]:
		return ""
	}
	for _, w := range words[1:] {
		name, _, _ := strings.Cut(w, ":")
		if states[name] {
			return program + " " + w
		}
	}
	return ""
}

// errorRoom returns how many bytes of an error there is room for: what a fifth of the record holds.
func (b *book) errorRoom() int {
	return min(errorChars, int(b.budget/5/perChar))
}

// error returns the error of a call that failed, from its first line on, whole lines of at most room bytes.
func (a *act) error(room int) string {
	var out []string
	n := 0
	begun := false
	for _, ln := range lines(a.result) {
		begun = begun || tool.IsError(ln)
		if !begun {
			continue
		}
		if n += len(ln) + 1; n > room || len(ln) > widest {
			break
		}
		out = append(out, ln)
	}
	return strings.Join(out, "\n")
}
