package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
)

// For proposes the rules that allow a call, and others like it, from now on. There are several where a line has several commands. There
// are none where such a rule would allow too much: for commands that run other commands, and for what a rule cannot name.
func (g *Guard) For(_ *agent.Tool, c *agent.Call) []Rule {
	s := g.subjectOf(c)
	switch {
	case s.fault || s.obeyed():
		return nil
	case c.Tool == toolBash:
		return forLine(c)
	case c.Tool == toolFetch:
		return rulesOf(toolFetch + "(domain:" + s.host + ")")
	case c.Tool == toolWrite || c.Tool == toolEdit:
		return forFile(s.paths)
	}
	return rulesOf(c.Tool)
}

// rulesOf returns the rule that a text is, if it is one.
func rulesOf(text string) []Rule {
	r, err := Parse(text)
	if err != nil {
		return nil
	}
	return []Rule{r}
}

// forFile proposes a rule for what lies in the folder of a file, at the top for the file alone.
func forFile(paths []string) []Rule {
	name := paths[len(paths)-1] // where it lies in the end
	if path.IsAbs(name) || strings.ContainsAny(name, `*?[]{}\()`) {
		return nil
	}
	if dir := path.Dir(name); dir != "." {
		name = dir + "/**"
	}
	return rulesOf(toolEdit + "(" + name + ")")
}

// forLine proposes a rule for each command of a line.
func forLine(c *agent.Call) (out []Rule) {
	var args struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(c.Arguments, &args) != nil {
		return nil
	}
	l := parseLine(args.Command)
	if l.fault != nil || !l.plain {
		return nil
	}
	for _, c := range l.commands {
		r, ok := forCommand(c)
		if !ok {
			return nil
		}
		if !slices.ContainsFunc(out, func(have Rule) bool { return have.String() == r.String() }) {
			out = append(out, r)
		}
	}
	return out
}

// never are commands for which no rule is proposed, beside those that run others: what they do cannot be taken back, or reaches far.
var never = words(`docker podman kubectl su rm dd mkfs chmod chown bun deno`)

// few are the words by which commands are named that are many commands in one, where any arguments may follow.
var few = map[string]map[string]bool{
	"git":   words("diff log show status add commit branch rev-parse ls-files describe blame stash switch restore shortlog merge-base"),
	"go":    words("build test vet doc list version fmt"),
	"npm":   words("test ls view outdated"),
	"cargo": words("build test check clippy fmt tree doc"),
	"gh":    words("status"),
}

// harmlessCommands read only, but for the options that end the match of a rule.
var harmlessCommands = words(`ls cat head tail wc pwd echo grep stat du df which basename dirname realpath true false printf test cmp comm nl
	cut tr uptime whoami uname`)

// forCommand proposes a rule for a command.
func forCommand(c command) (Rule, bool) {
	if len(c.words) == 0 {
		return Rule{}, false
	}
	name := c.words[0]
	switch base := path.Base(name); {
	case wrappers[base] || shells[base] || never[base] || interpreters[base] || evaluators[base] || changers[base]:
		return Rule{}, false
	case harmlessCommands[name] && c.keeps(1):
		return wordsRule([]string{name}, true)
	case len(c.words) > 1 && few[name][c.words[1]] && c.keeps(2):
		return wordsRule(c.words[:2], true)
	case !c.complete || setters[name] && !c.keeps(1):
		return Rule{}, false
	}
	return wordsRule(c.words, false)
}

// wordsRule returns the rule of words, if it can be written.
func wordsRule(words []string, prefix bool) (Rule, bool) {
	var quoted []string
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"\\$`*?[]{}~#&|;<>()!") {
			if strings.Contains(w, "'") {
				return Rule{}, false
			}
			w = "'" + w + "'"
		}
		quoted = append(quoted, w)
	}
	text := strings.Join(quoted, " ")
	if prefix {
		text += ":*"
	}
	r, err := Parse(toolBash + "(" + text + ")")
	return r, err == nil && slices.Equal(r.words, words) && r.prefix == prefix
}
