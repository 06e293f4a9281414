package scan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A Pattern is a sequence of commands that repeats across sessions.
type Pattern struct {
	Steps    []string   `json:"steps"` // "go test", "git commit", "git push"
	Count    int        `json:"count"` // how often it was run
	Sessions int        `json:"sessions"`
	Evidence []Evidence `json:"evidence"` // one for each session
}

// What a sequence must be to count as a pattern.
const (
	minSteps, maxSteps = 2, 6
	minCount           = 3
	minSessions        = 2
)

// Patterns returns the sequences of commands that repeat, longest first, without parts of a longer one that
// repeats as often. Commands that only look, or that failed, do not count.
func Patterns(ss []Session) []Pattern {
	found := map[string]*Pattern{}
	for i := range ss {
		line, at := procedure(&ss[i])
		for n := minSteps; n <= maxSteps; n++ {
			for j := 0; j+n <= len(line); j++ {
				count(found, line[j:j+n], &ss[i], at[j])
			}
		}
	}
	var out []Pattern
	for _, p := range found {
		if p.Count >= minCount && p.Sessions >= minSessions {
			out = append(out, *p)
		}
	}
	slices.SortFunc(out, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(len(b.Steps), len(a.Steps)), cmp.Compare(b.Count, a.Count), slices.Compare(a.Steps, b.Steps))
	})
	return longest(out)
}

func count(found map[string]*Pattern, steps []string, s *Session, message int) {
	key := strings.Join(steps, "\n")
	p := found[key]
	if p == nil {
		p = &Pattern{Steps: slices.Clone(steps)}
		found[key] = p
	}
	p.Count++
	if n := len(p.Evidence); n == 0 || p.Evidence[n-1].Session != s.ID || p.Evidence[n-1].File != s.File {
		p.Sessions++
		p.Evidence = append(p.Evidence, Evidence{Session: s.ID, File: s.File, Message: message, Quote: p.Text()})
	}
}

// longest leaves out three kinds of patterns: parts of an earlier one that is run in about as many sessions,
// those that share all but one step with an earlier one, and those that repeat a step, which are retries.
func longest(all []Pattern) (out []Pattern) {
	for _, p := range all {
		steps := slices.Sorted(slices.Values(p.Steps))
		if len(slices.Compact(steps)) < len(p.Steps) {
			continue
		}
		whole := strings.Join(p.Steps, "\n")
		if !slices.ContainsFunc(out, func(q Pattern) bool {
			return q.Sessions*2 >= p.Sessions && strings.Contains("\n"+strings.Join(q.Steps, "\n")+"\n", "\n"+whole+"\n") || nearly(p.Steps, q.Steps)
		}) {
			out = append(out, p)
		}
	}
	return out
}

// nearly reports whether all but one of some steps are among others.
func nearly(steps, among []string) bool {
	n := 0
	for _, s := range steps {
		if slices.Contains(among, s) {
			n++
		}
	}
	return len(steps) > 2 && n >= len(steps)-1
}

const (
	textHead = "Run in this order: "
	textThen = ", then "
)

// Text returns a pattern as one line, for an observation.
func (p *Pattern) Text() string { return textHead + strings.Join(p.Steps, textThen) }

// StepsOf returns the steps of a pattern by its Text, or nil for another text.
func StepsOf(text string) []string {
	steps, ok := strings.CutPrefix(text, textHead)
	if !ok {
		return nil
	}
	return strings.Split(steps, textThen)
}

// procedure returns the commands of a session that change something, and the messages that run them. A
// command that is repeated at once counts once.
func procedure(s *Session) (line []string, at []int) {
	for i := range s.calls {
		c := &s.calls[i]
		if c.Bad || c.Open || c.Command == "" {
			continue
		}
		for _, step := range steps(c.Command) {
			if n := len(line); n == 0 || line[n-1] != step {
				line, at = append(line, step), append(at, c.Message)
			}
		}
	}
	return line, at
}

// looking are commands that are not steps of a procedure.
var looking = words("cat ls cd head tail grep rg find echo pwd wc sed awk sort uniq which file stat tree diff env printf true false sleep test [ export source set for while if do done then else fi jq xargs tee mkdir touch cp mv rm chmod cut tr bd workmux date read nl python3 python node")

// lookingGit are subcommands of git that look.
var lookingGit = words("status diff log show branch rev-parse fetch ls-files remote blame config stash reflog merge-base cat-file rev-list worktree for-each-ref ls-tree ls-remote describe grep check-ignore add")

// split separates the commands of a line. Quoted text is removed first, as it may contain separators.
var (
	split  = lazyregexp.New(`&&|\|\||[;|\n]`)
	quoted = lazyregexp.New(`(?s)\$?\(?cat <<'?(\w+)'?.*?\n\s*EOF|"(?:[^"\\]|\\.)*"|'[^']*'`)
)

// parts returns the commands of a shell line, without variables before them and without quoted text.
func parts(line string) (out []string) {
	for _, p := range split.Split(quoted.ReplaceAllString(line, "_"), -1) {
		fields := strings.Fields(p)
		for len(fields) > 0 && (strings.Contains(fields[0], "=") || fields[0] == "sudo" || fields[0] == "time") {
			fields = fields[1:]
		}
		if len(fields) > 3 && fields[0] == "git" && fields[1] == "-C" {
			fields = append([]string{"git"}, fields[3:]...)
		}
		if len(fields) > 0 {
			out = append(out, strings.Join(fields, " "))
		}
	}
	return out
}

var plain = lazyregexp.New(`^[a-z][a-z0-9:_-]*$`)

// steps returns the commands of a line that change something, as program and subcommand.
func steps(line string) (out []string) {
	for _, p := range parts(line) {
		f := strings.Fields(p)
		if looking[f[0]] || !regexpProgram.MatchString(f[0]) || f[0] == "git" && (len(f) < 2 || lookingGit[f[1]] || !plain.MatchString(f[1])) {
			continue
		}
		n := 1
		for n < len(f) && n < 3 && plain.MatchString(f[n]) && (n == 1 || f[n-1] == "run") {
			n++
		}
		out = append(out, strings.Join(f[:n], " "))
	}
	return out
}

var regexpProgram = lazyregexp.New(`^[a-z./][\w./-]*$`)
