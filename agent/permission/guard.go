package permission

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/decantdev/decant/agent"
)

// Options configures a Guard.
type Options struct {
	Dir   string // the project, from which rules name files; empty: the current folder
	Rules Rules

	// File has further rules, and takes those that are added. One that does not exist has none. It is a YAML list, so that a rule is
	// added by writing one line at its end, which several processes may do at the same time:
	//
	//	- allow: bash(git diff:*)
	//	- deny: read(**/.env)
	//	- ask: fetch
	//
	// Keep it where the agent cannot write: whoever can write to it allows everything. Empty: there is no file.
	File string

	// Nobody says that nobody is there to be asked: what would ask is denied, with a reason for the model.
	Nobody bool
}

// A Guard says what is to be done about calls. It is safe for concurrent use.
type Guard struct {
	dir, real string // the project, and the folder that its links lead to
	file      string
	nobody    bool

	mu    sync.RWMutex
	rules Rules
}

// New returns a guard. An error names the folder or the file that is wrong.
func New(o Options) (*Guard, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("permission: Options.Dir: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("permission: Options.Dir: %w", err)
	}
	g := &Guard{dir: dir, real: real, file: o.File, nobody: o.Nobody}
	g.rules = Rules{Deny: slices.Clone(o.Rules.Deny), Ask: slices.Clone(o.Rules.Ask), Allow: slices.Clone(o.Rules.Allow)}
	if o.File == "" {
		return g, nil
	}
	stored, err := load(o.File)
	if err != nil {
		return nil, err
	}
	for kind, rules := range map[agent.VerdictKind][]Rule{agent.Deny: stored.Deny, agent.Ask: stored.Ask, agent.Allow: stored.Allow} {
		if err := g.rules.Add(kind, rules...); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Permit says what is to be done about a call, for agent.Options.Permit. Where no rule says anything, a tool with Ask asks and others
// are allowed.
func (g *Guard) Permit(_ context.Context, t *agent.Tool, c *agent.Call) agent.Verdict {
	s := g.subjectOf(c)
	g.mu.RLock()
	defer g.mu.RUnlock()
	deny, byDeny := strictest(g.rules.Deny, &s)
	if deny == yes {
		return agent.Verdict{Kind: agent.Deny, Reason: "the rule " + byDeny + " denies it"}
	}
	ask, byAsk := strictest(g.rules.Ask, &s)
	switch {
	case deny == maybe:
		return g.ask("it cannot be told whether the rule " + byDeny + ", which denies, is about it")
	case ask != no:
		return g.ask("the rule " + byAsk + " wants somebody to be asked")
	case s.obeyed():
		return g.ask("git, an editor or an agent runs or obeys what stands in this file, so somebody is always asked")
	case allowed(g.rules.Allow, &s):
		return agent.Verdict{Kind: agent.Allow}
	case t.Ask:
		return g.ask("no rule allows it")
	}
	return agent.Verdict{Kind: agent.Allow}
}

// strictest returns the best fit of rules that deny or ask, and whose it is.
func strictest(rules []Rule, s *subject) (best fit, by string) {
	for i := range rules {
		if f := rules[i].forbids(s); f > best {
			best, by = f, rules[i].String()
		}
	}
	return best, by
}

// ask asks, or denies where nobody is there to be asked.
func (g *Guard) ask(why string) agent.Verdict {
	if !g.nobody {
		return agent.Verdict{Kind: agent.Ask}
	}
	return agent.Verdict{Kind: agent.Deny, Reason: why + ", and nobody is there to be asked. Do without it, or say at the end what should be allowed."}
}

// Add adds rules that agent.Allow, agent.Deny or agent.Ask, and stores them where the guard has a file. Where they cannot be stored
// they hold all the same, until the process ends.
func (g *Guard) Add(kind agent.VerdictKind, rules ...Rule) error {
	g.mu.Lock()
	err := g.rules.Add(kind, rules...)
	g.mu.Unlock()
	if err != nil || g.file == "" {
		return err
	}
	return store(g.file, kind, rules...)
}

// Rules returns the rules that hold.
func (g *Guard) Rules() Rules {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return Rules{Deny: slices.Clone(g.rules.Deny), Ask: slices.Clone(g.rules.Ask), Allow: slices.Clone(g.rules.Allow)}
}

// Hidden returns the patterns of files that rules forbid to read, for tools.Options.Hidden: so that what may not be read is not found
// by a search either.
func (g *Guard) Hidden() (out []string) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, r := range g.rules.Deny {
		if r.tool == toolRead && r.spec != "" {
			out = append(out, r.spec)
		}
	}
	return out
}
