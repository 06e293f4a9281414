package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/agent"
)

// Options configures how servers are reached.
type Options struct {
	Base        http.RoundTripper // carries what goes to URLs; nil: http.DefaultTransport
	StartWithin time.Duration     // that a server must answer in when it is started; zero: 30 seconds
	CallWithin  time.Duration     // the longest that a call may take; zero: two minutes; less than zero: no limit
	Client      string            // what servers are told who calls; empty: "decant"
}

// A Set is the servers of an agent. It is safe for concurrent use.
type Set struct {
	opts    Options
	servers []*connection
	err     error // of those that could not be started
}

// Open starts servers, all at once. The set has those that could be started; Set.Err says why others could not. It must be closed.
func Open(ctx context.Context, servers []Server, o Options) *Set {
	if o.Base == nil {
		o.Base = http.DefaultTransport
	}
	if o.StartWithin == 0 {
		o.StartWithin = 30 * time.Second
	}
	if o.Client == "" {
		o.Client = "decant"
	}
	started, errs := make([]*connection, len(servers)), make([]error, len(servers))
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() {
			started[i], errs[i] = connect(ctx, servers[i], &o)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("MCP server %s: %w", servers[i].Name, errs[i])
			}
		})
	}
	wg.Wait()
	up := slices.DeleteFunc(started, func(c *connection) bool { return c == nil })
	return &Set{opts: o, servers: up, err: errors.Join(errs...)}
}

// Err names the servers that could not be started, and says why; nil: there are none.
func (s *Set) Err() error { return s.err }

// Tools returns the tools of all servers as they are now, in the order of their names. Two that have one name are an error.
func (s *Set) Tools(ctx context.Context) ([]agent.Tool, error) {
	var out []agent.Tool
	for _, c := range s.servers {
		tools, err := c.list(ctx)
		if err != nil {
			return nil, fmt.Errorf("MCP server %s: %w", c.server.Name, err)
		}
		for _, t := range tools {
			tool, err := c.tool(t)
			if err != nil {
				return nil, fmt.Errorf("MCP server %s: tool %s: %w", c.server.Name, t.Name, err)
			}
			tool.Timeout = s.opts.CallWithin
			out = append(out, tool)
		}
	}
	slices.SortStableFunc(out, func(a, b agent.Tool) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(out); i++ {
		if out[i].Name == out[i-1].Name {
			return nil, fmt.Errorf("two tools of MCP servers have the name %s: give one of the servers another name", out[i].Name)
		}
	}
	return out, nil
}

// Changed reports whether a server has other tools since Tools was called last.
func (s *Set) Changed() bool {
	return slices.ContainsFunc(s.servers, func(c *connection) bool { return c.changed.Load() })
}

// Close ends the connections, and the servers that were started.
func (s *Set) Close() error {
	errs := make([]error, len(s.servers))
	var wg sync.WaitGroup
	for i, c := range s.servers {
		wg.Go(func() { errs[i] = c.close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
