package team

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// A Member is somebody to whom the coordinator can delegate.
type Member struct {
	Name        string       `yaml:"name"`        // 1 to 64 letters, digits, _ and -
	Description string       `yaml:"description"` // what it is good at: by it the coordinator chooses
	Prompt      string       `yaml:"prompt"`      // what it is told about its work; empty: nothing
	Tools       []string     `yaml:"tools"`       // names of tools of the coordinator; nil: the same as the coordinator, in the same request
	Model       string       `yaml:"model"`       // empty: the coordinator's
	Window      int          `yaml:"window"`      // most tokens of its model's window that are used; 0: all
	Turns       int          `yaml:"turns"`       // answers in one delegation; 0: the coordinator's
	Budget      agent.Budget `yaml:"budget"`      // of one delegation

	// Client asks its model. Nil means the coordinator's.
	Client provider.Speaker `yaml:"-"`

	place string // file and line that it comes from; empty: from Go
	loose bool   // it was written for another program: what is not there is left out
}

// check says which field of a member is wrong, and what is.
func (m *Member) check() (field string, err error) {
	switch {
	case !validName(m.Name):
		return "name", fmt.Errorf("want 1 to 64 letters, digits, _ and -, not %q", m.Name)
	case strings.TrimSpace(m.Description) == "":
		return "description", errors.New("it is missing: the coordinator chooses by it")
	case m.Window < 0:
		return "window", fmt.Errorf("want 0 or more tokens, not %d", m.Window)
	case m.Turns < 0:
		return "turns", fmt.Errorf("want 0 or more answers, not %d", m.Turns)
	case m.Budget.Tokens < 0 || m.Budget.USD < 0:
		return "budget", errors.New("it must not be negative")
	}
	return "", nil
}

// wrong returns an error about a field.
func (m *Member) wrong(field string, err error) error {
	if m.place != "" {
		return fmt.Errorf("%s: member %s: %s: %w", m.place, m.Name, field, err)
	}
	return fmt.Errorf("team: member %s: %s: %w", m.Name, field, err)
}

// validName reports whether a member may have a name.
func validName(s string) bool {
	for _, c := range s {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 64
}

// twin reports whether the request of a member is the coordinator's up to its task.
func (m *Member) twin() bool { return m.Tools == nil && m.inherits() && m.Client == nil }

// inherits reports whether a member has the model of the coordinator.
func (m *Member) inherits() bool { return m.Model == "" || strings.EqualFold(m.Model, "inherit") }

// options returns the options of a member's agent, made of the coordinator's.
func (m *Member) options(o agent.Options) (agent.Options, error) {
	o.Model = m.model(&o)
	o.Budget, o.Permit = m.Budget, agent.Unattended(o.Permit, unasked)
	if m.Turns > 0 {
		o.Turns = m.Turns
	}
	if !m.twin() && m.Prompt != "" {
		o.System = strings.TrimPrefix(o.System+"\n\n"+m.Prompt, "\n\n")
	}
	if m.Window > 0 {
		p, err := narrowed(o.Preset, m.Window)
		if err != nil {
			return o, m.wrong("window", err)
		}
		o.Preset = p
	}
	if m.Tools == nil {
		return o, nil
	}
	tools, missing := chosen(o.Tools, m.Tools)
	if len(missing) > 0 && !m.loose {
		return o, m.wrong("tools", fmt.Errorf("there is no %s; there are: %s", strings.Join(missing, ", "), strings.Join(namesOf(o.Tools), ", ")))
	}
	o.Tools = tools
	return o, nil
}

// narrowed returns a policy that uses so many tokens of a window at most; nil stands for the preset "default".
func narrowed(p *preset.Preset, window int) (*preset.Preset, error) {
	if p == nil {
		var err error
		if p, err = preset.Load("default"); err != nil {
			return nil, err
		}
	}
	out := *p
	out.Trigger.Window = window
	return &out, nil
}

// chosen returns the tools that have names, in their own order, and the names that no tool has. Case does not matter: other programs
// write Read for read.
func chosen(tools []agent.Tool, names []string) (out []agent.Tool, missing []string) {
	for i := range tools {
		if slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, tools[i].Name) }) {
			out = append(out, tools[i])
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(tools, func(t agent.Tool) bool { return strings.EqualFold(name, t.Name) }) {
			missing = append(missing, name)
		}
	}
	return out, missing
}

// namesOf returns the names of tools.
func namesOf(tools []agent.Tool) (out []string) {
	for i := range tools {
		out = append(out, tools[i].Name)
	}
	return out
}

// model returns the model of a member. A family of Anthropic's, as files for coding agents name it, is its newest model; where the
// coordinator has a model of somebody else, it is the coordinator's.
func (m *Member) model(o *agent.Options) string {
	name := strings.ToLower(m.Model)
	switch {
	case m.inherits():
		return o.Model
	case !slices.Contains([]string{"opus", "sonnet", "haiku"}, name):
		return m.Model
	}
	catalog := o.Catalog
	if catalog == nil {
		var err error
		if catalog, err = token.Builtin(); err != nil {
			return o.Model
		}
	}
	if own, ok := catalog.Lookup(o.Model); !ok || own.Provider != token.Anthropic {
		return o.Model
	}
	return newest(catalog, "claude-"+name+"-", o.Model)
}

// newest returns the newest model whose id begins with prefix, and else what there is otherwise.
func newest(catalog *token.Catalog, prefix, otherwise string) string {
	best := ""
	for _, c := range catalog.Models() {
		if v, ok := strings.CutPrefix(c.ID, prefix); ok && (best == "" || v > best) {
			best = v
		}
	}
	if best == "" {
		return otherwise
	}
	return prefix + best
}
