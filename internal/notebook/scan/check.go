package scan

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/tool"
)

// A check is the part of a rule that can be seen in the calls: one command before another.
type check struct {
	First  string `json:"first"`  // the command that has to run, such as "go test"; "tests" and "lint" stand for any
	Before string `json:"before"` // "commit" or "push"
}

// A checked is what a check has found in a session, by message numbers.
type checked struct {
	Kept    []int `json:"kept,omitempty"`    // the command ran, and after it nothing was changed
	Broken  []int `json:"broken,omitempty"`  // files were changed, and the command did not run at all
	Unclear []int `json:"unclear,omitempty"` // it ran and failed, or something was changed after it
}

var ordered = []*lazyregexp.Regexp{
	lazyregexp.New("(?i)(?:run |always |use )*`?([a-z][\\w ./:-]{1,40}?)`? before (?:you |each |every |any |a |the )?(?:git )?(commit|push)"),
	lazyregexp.New("(?i)before (?:you |each |every |any |a |the )?(?:git )?(commit|push)\\w*,? (?:always |please |first )*(?:run |use )?`?([a-z][\\w ./:-]{1,40}?)`?(?: first)?[.!]?$"),
	lazyregexp.New("(?i)(?:don't|do not|never) (commit|push) (?:without|before) (?:running |having run )?`?([a-z][\\w ./:-]{1,40}?)`?[.!]?$"),
}

// checkOf returns the check of a rule, if the rule is one about the order of commands: "go test before commit",
// "before each push, run make lint", "never commit without tests".
func checkOf(rule string) (check, bool) {
	for i, re := range ordered {
		m := re.FindStringSubmatch(strings.TrimSpace(rule))
		if m == nil {
			continue
		}
		first, before := m[1], m[2]
		if i > 0 {
			first, before = m[2], m[1]
		}
		if first = command(first); first != "" {
			return check{first, strings.ToLower(before)}, true
		}
	}
	return check{}, false
}

// Kept says where a session kept a rule that a machine can check, in the calls: each command that was due with the rule's
// command before it. It is empty if nothing was due, if the session broke the rule, or if the rule is of another kind.
func Kept(rule string, s *Session) (out []Evidence) {
	k, ok := checkOf(rule)
	if !ok {
		return nil
	}
	found := k.in(s)
	if found.verdict() != Confirms {
		return nil
	}
	for _, n := range found.Kept {
		out = append(out, Evidence{Session: s.ID, File: s.File, Message: n, Time: s.End, Quote: k.First + " ran before the " + k.Before})
	}
	return out
}

// programs begin commands that a rule can name without marks of code.
var programs = words("go npm pnpm yarn bun npx make mise just cargo mvn gradle ./gradlew mix pytest python uv ruff tox rake bundle dotnet deno gofmt golangci-lint eslint prettier tsc biome pre-commit lefthook")

// command returns the command that a phrase of a rule names, "" if it names none.
func command(phrase string) string {
	for {
		rest := phrase
		for _, lead := range [...]string{"always ", "please ", "the ", "all ", "run ", "use ", "a "} {
			if len(rest) > len(lead) && strings.EqualFold(rest[:len(lead)], lead) {
				rest = rest[len(lead):]
			}
		}
		if rest == phrase {
			break
		}
		phrase = rest
	}
	fields := strings.Fields(phrase)
	switch low := strings.ToLower(phrase); {
	case low == "test" || low == "tests" || low == "testing" || strings.HasSuffix(low, " tests"):
		return "tests"
	case low == "lint" || low == "linter" || low == "linting":
		return "lint"
	case len(fields) > 0 && programs[fields[0]]:
		return phrase
	}
	return ""
}

// In looks a check up in the calls of a session. A session in which nothing was committed, or nothing was changed
// before, says nothing.
func (k check) in(s *Session) (out checked) {
	changed, ran, failed := false, false, false
	for i := range s.calls {
		c := &s.calls[i]
		if c.Open {
			continue
		}
		if edits(c) {
			changed, failed = true, failed || ran
			ran = false
		}
		if k.runs(c) {
			ran, failed = !c.Bad, c.Bad
		}
		if c.Bad || !k.due(c) {
			continue
		}
		switch {
		case ran:
			out.Kept = append(out.Kept, c.Message)
		case failed:
			out.Unclear = append(out.Unclear, c.Message)
		case changed:
			out.Broken = append(out.Broken, c.Message)
		}
		changed, ran, failed = false, false, false
	}
	return out
}

// Verdict says whether the calls of a session confirm a rule: it was kept at least once and never broken. A rule
// that the model broke is not contradicted by that.
func (c *checked) verdict() Verdict {
	if len(c.Kept) > 0 && len(c.Broken) == 0 && len(c.Unclear) == 0 {
		return Confirms
	}
	return neither
}

// edits reports whether a call changed a file by a tool. What commands change is not known.
func edits(c *call) bool {
	if c.Bad || c.Class == tool.Shell {
		return false
	}
	for _, f := range c.Files {
		if f.Class == tool.Edit || f.Class == tool.Write || f.Class == tool.Delete {
			return true
		}
	}
	return false
}

var linting = lazyregexp.New(`\b(lint|vet|eslint|clippy|ruff check|golangci-lint|biome|staticcheck)\b`)

// runs reports whether a call runs the command of the check.
func (k check) runs(c *call) bool {
	switch k.First {
	case "tests":
		return c.Test
	case "lint":
		return linting.MatchString(c.Command)
	}
	return has(c.Command, k.First)
}

// due reports whether a call is what the command of the check has to come before.
func (k check) due(c *call) bool {
	if k.Before == "commit" {
		return len(commitsIn(c)) > 0
	}
	for _, step := range steps(c.Command) {
		if step == "git push" {
			return true
		}
	}
	return false
}

// has reports whether one of the commands in a line of the shell begins with cmd.
func has(line, cmd string) bool {
	for _, part := range parts(line) {
		if part == cmd || strings.HasPrefix(part, cmd+" ") {
			return true
		}
	}
	return false
}
