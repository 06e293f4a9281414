package scan

import (
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/tool"
)

// A check is a rule that calls can show: one command before another.
type check struct {
	First  string // the command that has to run, such as "go test"; "tests" and "lint" mean any
	Before string // "commit" or "push"
}

// A checked is what a check found in a session: commits or pushes.
type checked struct {
	Kept    []*call // the command ran, and nothing was changed after it
	Broken  []*call // files were changed, and the command did not run
	Unclear []*call // it ran and failed, or something was changed after it
}

var ordered = []*lazyregexp.Regexp{
	lazyregexp.New("(?i)(?:run |always |use )*`?([a-z][\\w ./:-]{1,40}?)`? before (?:you |each |every |any |a |the )?(?:git )?(commit|push)"),
	lazyregexp.New("(?i)before (?:you |each |every |any |a |the )?(?:git )?(commit|push)\\w*,? (?:always |please |first )*(?:run |use )?`?([a-z][\\w ./:-]{1,40}?)`?(?: first)?[.!]?$"),
	lazyregexp.New("(?i)(?:don't|do not|never) (commit|push) (?:without|before) (?:running |having run )?`?([a-z][\\w ./:-]{1,40}?)`?[.!]?$"),
}

// checkOf returns the check of a rule about the order of commands: "go test before commit", "before each
// push, run make lint", "never commit without tests".
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

// Kept returns the calls of a session that keep a rule about the order of commands. It is empty if there was
// no occasion, if the session broke the rule, or if the rule is of another kind.
func Kept(rule string, s *Session) (out []Evidence) {
	k, ok := checkOf(rule)
	if !ok {
		return nil
	}
	found := k.in(s)
	if found.verdict() != Confirms {
		return nil
	}
	for _, c := range found.Kept {
		out = append(out, Evidence{Session: s.ID, File: s.File, ID: c.ID, Message: c.Message, Time: s.End, Quote: k.First + " ran before the " + k.Before})
	}
	return out
}

// programs begin commands that a rule can name without code marks.
var programs = words("go npm pnpm yarn bun npx make mise just cargo mvn gradle ./gradlew mix pytest python uv ruff tox rake bundle dotnet deno gofmt golangci-lint eslint prettier tsc biome pre-commit lefthook")

// command returns the command that a phrase of a rule names, or "".
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

// in looks for a check in the calls of a session. Commits and pushes count only after changes.
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
			out.Kept = append(out.Kept, c)
		case failed:
			out.Unclear = append(out.Unclear, c)
		case changed:
			out.Broken = append(out.Broken, c)
		}
		changed, ran, failed = false, false, false
	}
	return out
}

// verdict says whether the calls confirm a rule: it was kept at least once and never broken. Breaking it does
// not contradict it, since the model did that.
func (c *checked) verdict() Verdict {
	if len(c.Kept) > 0 && len(c.Broken) == 0 && len(c.Unclear) == 0 {
		return Confirms
	}
	return neither
}

// edits reports whether a call of a tool changed a file. What shell commands change is unknown.
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

// due reports whether a call is one that the command of the check must precede.
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

// has reports whether a command in a shell line begins with cmd.
func has(line, cmd string) bool {
	for _, part := range parts(line) {
		if part == cmd || strings.HasPrefix(part, cmd+" ") {
			return true
		}
	}
	return false
}
