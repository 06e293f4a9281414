package permission

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/decantdev/decant/agent"
)

// A Rule names calls of tools. The zero Rule names none.
type Rule struct {
	tool string // may end with *
	spec string // what stands in the parentheses; empty: all calls

	words  []string // of bash: the words that a command begins with
	prefix bool     // more words may follow
	wide   string   // the command by which it would allow any program, where it allows
}

// Tools whose rules may have parentheses, and what stands in them.
const (
	toolBash  = "bash"
	toolFetch = "fetch"
	toolRead  = "read"
	toolEdit  = "edit"
	toolWrite = "write"
	toolGrep  = "grep"
	toolGlob  = "glob"
)

// Parse reads a rule such as bash(git diff:*).
func Parse(text string) (Rule, error) {
	r, err := parse(strings.TrimSpace(text))
	if err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", text, err)
	}
	return r, nil
}

func parse(text string) (r Rule, err error) {
	tool, rest, inside := strings.Cut(text, "(")
	if inside && !strings.HasSuffix(rest, ")") {
		return r, errors.New("the ) at its end is missing")
	}
	r.tool, r.spec = tool, strings.TrimSpace(strings.TrimSuffix(rest, ")"))
	if err := checkTool(tool); err != nil {
		return r, err
	}
	switch {
	case !inside || r.spec == "*":
		r.spec = ""
		return r, nil
	case r.spec == "":
		return r, fmt.Errorf("nothing stands in the parentheses; %s alone names all calls", tool)
	case strings.ContainsAny(r.spec, "\n\r\x00"):
		return r, errors.New("it must stand on one line")
	}
	switch tool {
	case toolBash:
		return r, r.command()
	case toolFetch:
		return r, r.domain()
	case toolRead, toolEdit, toolWrite, toolGrep, toolGlob:
		return r, r.pattern()
	}
	return r, fmt.Errorf("%s takes no parentheses: bash, fetch, read, edit, write, grep and glob do", tool)
}

// checkTool says what is wrong with the name of a tool.
func checkTool(name string) error {
	stem := strings.TrimSuffix(name, "*")
	bad := strings.IndexFunc(stem, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	switch {
	case name == "":
		return errors.New("the name of a tool is missing")
	case bad >= 0:
		return fmt.Errorf("the name of a tool has letters, digits, _ and -, and may end with *: %q", name)
	}
	return nil
}

// command reads what a rule of bash names.
func (r *Rule) command() error {
	text, prefix := strings.CutSuffix(r.spec, ":*")
	l := parseLine(text)
	switch {
	case l.fault != nil:
		return fmt.Errorf("%q is not a command: %w", text, l.fault)
	case len(l.commands) != 1 || !l.plain || !l.commands[0].complete || len(l.commands[0].words) == 0:
		return errors.New("it names one command as it is written, without anything that the shell expands, and may end with :*")
	}
	r.words, r.prefix = l.commands[0].words, prefix
	r.wide = tooWide(r.words, prefix)
	return nil
}

// domain checks what a rule of fetch names.
func (r *Rule) domain() error {
	host, ok := strings.CutPrefix(r.spec, "domain:")
	host = strings.TrimPrefix(host, "*.")
	if !ok || host == "" || strings.ContainsAny(host, "/*:@ ") {
		return errors.New("fetch takes domain: and a host, such as fetch(domain:example.com) or fetch(domain:*.example.com)")
	}
	r.spec = strings.TrimSuffix(strings.ToLower(r.spec), ".")
	return nil
}

// pattern checks what a rule of files names.
func (r *Rule) pattern() error {
	p := r.spec
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	p = path.Clean(p)
	switch {
	case p == ".." || strings.HasPrefix(p, "../"):
		return errors.New("it leads out of the project")
	case !doublestar.ValidatePattern(p):
		return fmt.Errorf("%q is not a pattern such as src/** or *.go", r.spec)
	}
	r.spec = p
	return nil
}

// String returns the rule as Parse reads it.
func (r Rule) String() string {
	if r.spec == "" {
		return r.tool
	}
	return r.tool + "(" + r.spec + ")"
}

// about reports whether a rule is about a tool.
func (r *Rule) about(tool string) bool {
	if stem, ok := strings.CutSuffix(r.tool, "*"); ok {
		return strings.HasPrefix(tool, stem)
	}
	switch tool {
	case toolWrite:
		return r.tool == toolWrite || r.tool == toolEdit
	case toolGrep, toolGlob:
		return r.tool == tool || r.tool == toolRead
	}
	return r.tool != "" && r.tool == tool
}

// Rules are what is denied, asked and allowed. The zero value leaves it to each tool whether it asks.
type Rules struct {
	Deny, Ask, Allow []Rule
}

// Add adds rules to those of a kind, which are all of one kind: agent.Deny, agent.Ask or agent.Allow. Those that are there
// already are left out. A rule that would allow any command, such as bash(xargs:*), is an error.
func (r *Rules) Add(kind agent.VerdictKind, rules ...Rule) error {
	var list *[]Rule
	switch kind {
	case agent.Deny:
		list = &r.Deny
	case agent.Ask:
		list = &r.Ask
	case agent.Allow:
		list = &r.Allow
	default:
		return fmt.Errorf("a rule allows, asks or denies: %q", kind)
	}
	for _, n := range rules {
		if n.wide != "" && kind == agent.Allow {
			return fmt.Errorf("the rule %s would allow any command, because %s runs or evaluates what its words say: name a whole command, or allow %s", n, n.wide, toolBash)
		}
		if !slices.ContainsFunc(*list, func(have Rule) bool { return have.String() == n.String() }) {
			*list = append(*list, n)
		}
	}
	return nil
}
