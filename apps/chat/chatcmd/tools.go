package chatcmd

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
)

// giveTools gives a chat what it works on the project with, and says which calls need a question: those that no rule allows. The function
// that it returns removes what is temporary. hide is what commands do not see.
func giveTools(s *process.Process, o *chat.Options, hide []string) (func() error, error) {
	g, err := guard(s, o)
	if err != nil {
		return nil, exit.Usage(err)
	}
	set, err := tools.New(tools.Options{Dir: o.Project.Dir, Hidden: g.Hidden(), Shell: tools.Shell{Attended: !o.Unattended, Hide: hide}})
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	o.Tools, o.Permit = set.Tools(), g.Permit
	o.Always = func(c *agent.Call) (string, error) { return always(g, c) }
	o.Restore = func(calls ...string) (string, []string, error) {
		r, err := set.Rewind(calls...)
		return r.ID, r.Files, err
	}
	o.Kept = &kept{set: set, chat: o}
	return set.Close, nil
}

// guard returns what holds of calls here: the rules of the settings and of the command line, and those that were given as answers.
func guard(s *process.Process, o *chat.Options) (*permission.Guard, error) {
	var rules permission.Rules
	for _, set := range []struct {
		kind  agent.VerdictKind
		texts []string
	}{{agent.Allow, o.Project.Settings.Allow}, {agent.Deny, o.Project.Settings.Deny}} {
		for _, text := range set.texts {
			r, err := permission.Parse(text)
			if err == nil {
				err = rules.Add(set.kind, r)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	file, err := rulesFile(s, o.Project.Root)
	if err != nil {
		return nil, err
	}
	return permission.New(permission.Options{Dir: o.Project.Dir, Rules: rules, File: file})
}

// rulesFile returns the file of the rules that somebody gave as answers in a project. It lies where agents do not write.
func rulesFile(s *process.Process, root string) (string, error) {
	home, err := userdir.Config(s.Getenv)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(home, "permissions", fmt.Sprintf("%s-%x.yaml", filepath.Base(root), sum[:4])), nil
}

// always allows calls like one from now on.
func always(g *permission.Guard, c *agent.Call) (string, error) {
	rules := g.For(nil, c)
	if len(rules) == 0 {
		return "", errors.New("a rule for it would allow too much")
	}
	var texts []string
	for _, r := range rules {
		texts = append(texts, r.String())
	}
	return strings.Join(texts, ", "), g.Add(agent.Allow, rules...)
}
