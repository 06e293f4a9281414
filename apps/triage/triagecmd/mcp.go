package triagecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/mcp"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

// Limits of tools of MCP servers in an investigation.
const (
	mostToolResult = 4000 // characters
	mostToolTime   = time.Minute
)

// serve starts the MCP servers of the settings. Investigations get their read-only tools, and those that the settings
// allow. A server that cannot be started is a notice.
func (r *workroom) serve(ctx context.Context, s *process.Process) error {
	name := r.set.MCP.File
	if name == "" {
		return nil
	}
	servers, err := mcp.Read(name, r.set.MCP.Data, s.LookupEnv)
	if err != nil {
		return exit.Input(err)
	}
	set := mcp.Open(ctx, servers, mcp.Options{CallWithin: mostToolTime})
	r.clean = append(r.clean, set.Close)
	if err := set.Err(); err != nil {
		r.faults = append(r.faults, err)
		for _, one := range servers { // the reason may quote what the server printed, so it is not in the report
			if strings.Contains("\n"+err.Error(), "\nMCP server "+one.Name+": ") {
				r.notices = append(r.notices, fmt.Sprintf("The MCP server %s could not be started.", one.Name))
			}
		}
	}
	all, err := set.Tools(ctx)
	if err != nil {
		return exit.Input(fmt.Errorf("%s: %w", name, err))
	}
	for _, t := range all {
		if t.ReadOnly || slices.Contains(r.set.MCP.Allow, t.Name) {
			r.tools = append(r.tools, r.masked(t))
		}
	}
	for _, allowed := range r.set.MCP.Allow {
		if !slices.ContainsFunc(all, func(t agent.Tool) bool { return t.Name == allowed }) {
			r.notices = append(r.notices, fmt.Sprintf("The settings allow the tool %s, which no MCP server has.", allowed))
		}
	}
	return nil
}

// masked returns a tool whose results are short, and texts without secrets and personal data.
func (r *workroom) masked(t agent.Tool) agent.Tool {
	run := t.Run
	t.Ask, t.Most = false, mostToolResult
	t.Run = func(ctx context.Context, c *agent.Call) (agent.Result, error) {
		res, err := run(ctx, c)
		if err != nil {
			return agent.Result{}, fmt.Errorf("%s", r.masker.Text(err.Error()))
		}
		res.Text, res.Rest, res.Images = r.masker.Text(res.Text), "", nil // a secret in an image cannot be masked
		return res, nil
	}
	return t
}
