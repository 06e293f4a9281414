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

// permit returns what says what is to be done about calls.
func (c *Chat) permit() func(context.Context, *agent.Tool, *agent.Call) agent.Verdict {
	permit := c.opts.Permit
	if permit != nil {
		permit = func(ctx context.Context, t *agent.Tool, call *agent.Call) agent.Verdict {
			if t.Name == skillName { // the project's own text: rules are about what the tools of the chat do
				return agent.Verdict{Kind: agent.Allow}
			}
			return c.opts.Permit(ctx, t, call)
		}
	}
	if !c.opts.Unattended {
		return permit
	}
	return agent.Unattended(permit, func(call *agent.Call) string {
		c.denied.add(*call)
		return unattended
	})
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
