package chatserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/agent/remember"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// An Agent is the configuration of an agent, as openapi.yaml describes it.
type Agent struct {
	Name      string         `json:"name"`
	Model     string         `json:"model"`
	System    string         `json:"system,omitzero"`
	Preset    string         `json:"preset,omitzero"`
	Config    jsontext.Value `json:"config,omitzero"` // keys of a preset, or their short names, in place of the preset's own
	Tools     []string       `json:"tools,omitzero"`
	MaxTokens int            `json:"max_tokens,omitzero"`
	Turns     int            `json:"turns,omitzero"`
	Budget    *limit         `json:"budget,omitzero"`
	Workspace *space         `json:"workspace,omitzero"` // nil: its sessions have no files
}

// A limit limits one run.
type limit struct {
	Tokens int     `json:"tokens,omitzero"`
	USD    float64 `json:"usd,omitzero"`
}

// DefaultAgent is the name of the agent of sessions that name none.
const DefaultAgent = "default"

// agentKind is the kind of the journals that keep agents, agentPrefix how their ids begin. Ids of sessions have no dot.
const (
	agentKind   = "agent"
	agentPrefix = "agent."
)

// project is what the conversations of all agents are about, and with it what they remember: each user has one memory.
const project = "chat"

// chatPreset is the policy of an agent that names none.
const chatPreset = "chat"

var agentName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,62}$`)

// policy returns the preset of a configuration.
func (a *Agent) policy() (*preset.Preset, error) {
	base := cmp.Or(a.Preset, chatPreset)
	if !slices.Contains(preset.Names(), base) { // preset.Load also reads files, which are none of a user's
		return nil, fmt.Errorf("preset: there is no %q; there are %s", base, strings.Join(preset.Names(), ", "))
	}
	if len(a.Config) == 0 {
		return preset.Load(base)
	}
	var keys map[string]any
	if err := json.Unmarshal(a.Config, &keys); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	for _, own := range []string{"base", "name"} {
		if _, ok := keys[own]; ok {
			return nil, fmt.Errorf("config: %s: it has its own place in the configuration of an agent", own)
		}
	}
	keys, err := translated(keys)
	if err != nil {
		return nil, err
	}
	keys["base"], keys["name"] = base, a.Name
	text, err := yaml.Marshal(keys)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return preset.Parse("config", text)
}

// A seedKey is a key of the chat's design (SPEC-008, "Configuration Defaults") and what it is in a preset.
type seedKey struct {
	group, key string
	times      int // numbers are so many times as large there
}

var seedKeys = map[string]seedKey{
	"context_window":             {"trigger", "window", 1},
	"reserve_tokens":             {"trigger", "reserve", 1},
	"flush_threshold":            {"flush", "ahead", 1},
	"keep_recent_turns":          {"keep", "messages", 2}, // a turn of the assistant there is a pair of messages here
	"prune_keep_last_assistants": {"trim", "after", 1},
	"prune_soft_trim_chars":      {"trim", "over", 1},
	"compaction_model":           {"summary", "model", 1},
}

// translated returns a configuration with the keys of presets alone.
func translated(keys map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for name, v := range keys {
		if _, ok := seedKeys[name]; !ok {
			out[name] = v
		}
	}
	for name, v := range keys {
		k, ok := seedKeys[name]
		if !ok {
			continue
		}
		if n, ok := v.(float64); ok {
			v = n * float64(k.times)
		}
		group, err := groupOf(out, k.group)
		if err != nil {
			return nil, fmt.Errorf("config: %s: %w", name, err)
		}
		if _, twice := group[k.key]; twice {
			return nil, fmt.Errorf("config: %s is there twice, also as %s of %s", name, k.key, k.group)
		}
		group[k.key] = v
	}
	return out, nil
}

// groupOf returns a group of keys, which is made if it is not there. The group trim stands in the group reduce.
func groupOf(in map[string]any, name string) (map[string]any, error) {
	if name == "trim" {
		reduce, err := groupOf(in, "reduce")
		if err != nil {
			return nil, err
		}
		in = reduce
	}
	if in[name] == nil {
		in[name] = map[string]any{}
	}
	group, ok := in[name].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is no group of keys", name)
	}
	return group, nil
}

// An agentBook is the agents that the users of a service have configured.
type agentBook struct {
	opts    *Options
	records *records
	folders *folders
	limits  *limits
	leases  *leases
}

// check says what is wrong with a configuration.
func (b *agentBook) check(a *Agent, tools map[string]agent.Tool) error {
	switch {
	case !agentName.MatchString(a.Name):
		return fmt.Errorf("name: it has 1 to 63 small letters, digits and -: %q", a.Name)
	case a.Model == "":
		return errors.New("model: it is missing")
	case len(a.Config) > 0 && a.Config.Kind() != jsontext.KindBeginObject:
		return errors.New("config: it is an object")
	}
	for _, name := range a.Tools {
		if _, ok := tools[name]; !ok {
			return fmt.Errorf("tools: there is no tool %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(tools)), ", "))
		}
	}
	if err := b.folders.check(a, tools); err != nil {
		return err
	}
	_, err := a.policy()
	return err
}

// list returns the agents of a tenant, by name.
func (b *agentBook) list(ctx context.Context, tenant string) (out []Agent, err error) {
	js, err := b.records.journals(ctx, tenant, agentKind, time.Time{})
	for i := 0; i < len(js) && err == nil; i++ {
		var a Agent
		if err = json.Unmarshal(js[i].Head, &a); err == nil {
			out = append(out, a)
		}
	}
	if !slices.ContainsFunc(out, func(a Agent) bool { return a.Name == DefaultAgent }) {
		out = append(out, b.opts.Default)
	}
	slices.SortFunc(out, func(a, b Agent) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// find returns one agent of a tenant; an error that wraps store.ErrNotFound where there is none.
func (b *agentBook) find(ctx context.Context, tenant, name string) (*Agent, error) {
	j, err := b.opts.Store.Journal(ctx, store.Key{Tenant: tenant, ID: agentPrefix + name})
	if errors.Is(err, store.ErrNotFound) && name == DefaultAgent {
		a := b.opts.Default
		return &a, nil
	}
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", name, err)
	}
	var a Agent
	return &a, json.Unmarshal(j.Head, &a)
}

// put keeps an agent, and reports whether it is new. Each of its configurations is a step of its journal.
func (b *agentBook) put(ctx context.Context, tenant string, a *Agent) (made bool, err error) {
	text, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		return false, err
	}
	add := &store.Addition{Key: store.Key{Tenant: tenant, ID: agentPrefix + a.Name}, Kind: agentKind, Head: text, Steps: [][]byte{text}}
	j, err := b.opts.Store.Journal(ctx, add.Key)
	switch {
	case err == nil && bytes.Equal(j.Head, text):
		return false, nil
	case err == nil:
		add.Length = j.Length
	case !errors.Is(err, store.ErrNotFound):
		return false, err
	}
	return add.Length == 0, b.opts.Store.AddSteps(ctx, add)
}

// options returns what an agent of a tenant is made with. Sessions that begin or go on use the configuration as it is then.
func (b *agentBook) options(tenant string, a *Agent) (agent.Options, error) {
	policy, err := a.policy()
	if err != nil {
		return agent.Options{}, err
	}
	all, err := b.tools(tenant)
	if err != nil {
		return agent.Options{}, err
	}
	o := agent.Options{
		Model: a.Model, System: a.System, Engine: b.opts.Engine, Tenant: tenant, Project: project, Preset: policy, Journals: b.opts.Store,
		MaxTokens: a.MaxTokens, Turns: a.Turns, Now: b.opts.Now, Owner: b.leases.own,
		Catalog: b.opts.Catalog, Budgets: b.limits.budgets, Hooks: metered(),
	}
	if a.Budget != nil {
		o.Budget = agent.Budget{Tokens: a.Budget.Tokens, USD: a.Budget.USD}
	}
	guard, err := permission.New(permission.Options{Rules: b.opts.Rules})
	if err != nil {
		return agent.Options{}, err
	}
	o.Permit = guard.Permit
	for _, name := range a.Tools {
		if t, ok := all[name]; ok { // one that is no longer offered is left out, so that the sessions of the agent go on
			o.Tools = append(o.Tools, t)
		}
	}
	return o, nil
}

// tools returns the tools that agents of a tenant may have, by name: those that remember, and what the service offers besides.
func (b *agentBook) tools(tenant string) (map[string]agent.Tool, error) {
	all, err := remember.Tools(remember.Options{Store: b.opts.Store, Tenant: tenant, Project: project, Now: b.opts.Now})
	if err == nil && b.opts.Tools != nil {
		var more []agent.Tool
		more, err = b.opts.Tools(tenant)
		all = append(all, more...)
	}
	out := map[string]agent.Tool{}
	for _, t := range all {
		if _, twice := out[t.Name]; twice {
			return nil, fmt.Errorf("two tools have the name %s", t.Name)
		}
		out[t.Name] = t
	}
	return out, err
}

// made returns the agent of a configuration.
func (b *agentBook) made(tenant string, a *Agent) (*agent.Agent, error) {
	o, err := b.options(tenant, a)
	if err != nil {
		return nil, err
	}
	return agent.New(b.opts.Client, o)
}
