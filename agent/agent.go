package agent

import (
	"context"
	"crypto/rand"
	"iter"
	"slices"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// An Agent is a model with instructions, tools and limits. It is safe for concurrent use.
type Agent struct {
	client provider.Speaker
	opts   Options
	model  token.Model
}

// New returns an agent that asks its model through client. An error names the option that is wrong.
func New(client provider.Speaker, o Options) (*Agent, error) {
	o, err := o.settled()
	if err != nil {
		return nil, err
	}
	o.Tools = slices.Clone(o.Tools)
	model, _ := o.Catalog.Lookup(o.Model)
	return &Agent{client: client, opts: o, model: model}, nil
}

// Run works on text in a new session.
func (a *Agent) Run(ctx context.Context, text string) iter.Seq2[Event, error] {
	return a.Session("").Run(ctx, text)
}

// Session begins a session. The id names its conversation in the store; an empty one is replaced by a new one. Where Options.Journals
// keeps a session with this id already, its first run is ErrTaken: Open opens that one.
func (a *Agent) Session(id string) *Session {
	if id == "" {
		id = rand.Text()
	}
	return &Session{agent: a, id: id, state: state{root: id}}
}

// Tools returns the tools of the agent.
func (a *Agent) Tools() []Tool { return slices.Clone(a.opts.Tools) }

// tool returns the tool with a name, nil when there is none.
func (a *Agent) tool(name string) *Tool {
	for i := range a.opts.Tools {
		if a.opts.Tools[i].Name == name {
			return &a.opts.Tools[i]
		}
	}
	return nil
}
