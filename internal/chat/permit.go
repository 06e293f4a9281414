package chat

import (
	"context"
	"errors"
	"sync"

	"github.com/decantdev/decant/agent"
)

// unattended is why a call is denied that somebody must allow, where nobody can be asked.
const unattended = "it must be allowed, and nobody can be asked in this run; do without it, or say what you would have done"

// A denials is a list of the calls that were denied because nobody could be asked.
type denials struct {
	mu    sync.Mutex
	calls []agent.Call
}

// permit says what is to be done about a call.
func (c *Chat) permit(ctx context.Context, t *agent.Tool, call *agent.Call) agent.Verdict {
	v := agent.Verdict{Kind: agent.Allow}
	switch {
	case c.opts.Permit != nil && t.Name != skillName:
		v = c.opts.Permit(ctx, t, call)
	case t.Ask:
		v.Kind = agent.Ask
	}
	decided := v.Kind == agent.Allow || v.Kind == agent.Deny || v.Kind == agent.Edit
	if decided || !c.opts.Unattended {
		return v
	}
	c.denied.add(*call)
	return agent.Verdict{Kind: agent.Deny, Reason: unattended}
}

// add adds a call.
func (d *denials) add(c agent.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, c)
}

// all returns the calls in the order in which they were denied.
func (d *denials) all() []agent.Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// errOnce means that calls are allowed one by one.
var errOnce = errors.New("there is nowhere to keep rules")

// Always allows calls like one from now on, and returns the rule by which it does.
func (c *Chat) Always(call *agent.Call) (rule string, err error) {
	if c.opts.Always == nil {
		return "", errOnce
	}
	return c.opts.Always(call)
}
