package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant/agent"
)

// list returns the tools of the server. They are asked for where they may have changed. Those of a server that cannot be reached any more
// stay as they were: a call of one says why it fails.
func (c *connection) list(ctx context.Context) ([]*sdk.Tool, error) {
	if c.changed.Swap(false) {
		tools, err := c.ask(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			c.tools = tools
		}
		if c.tools == nil {
			c.changed.Store(true)
			return nil, err
		}
		return slices.Clone(c.tools), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tools), nil
}

// ask asks the server for its tools.
func (c *connection) ask(ctx context.Context) ([]*sdk.Tool, error) {
	s, err := c.live(ctx)
	if err != nil {
		return nil, err
	}
	tools := []*sdk.Tool{}
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// mostDescribed is how many characters a server may say about a tool: they are sent with each request.
const mostDescribed = 2000

// tool returns a tool of the server as one of an agent.
func (c *connection) tool(t *sdk.Tool) (agent.Tool, error) {
	out := agent.Tool{Name: toolName(c.server.Name, t.Name), Description: t.Description, Ask: true}
	if out.Description == "" {
		out.Description = t.Title
	}
	if rs := []rune(out.Description); len(rs) > mostDescribed {
		out.Description = string(rs[:mostDescribed]) + "..."
	}
	if a := t.Annotations; a != nil {
		out.ReadOnly, out.Idempotent, out.Ask = a.ReadOnlyHint, a.IdempotentHint, !a.ReadOnlyHint
	}
	if t.InputSchema != nil {
		schema, err := json.Marshal(t.InputSchema, json.Deterministic(true))
		if err != nil || jsontext.Value(schema).Kind() != jsontext.KindBeginObject {
			return out, errors.New("its schema is not a JSON object")
		}
		out.Schema = schema
	}
	name := t.Name
	out.Run = func(ctx context.Context, call *agent.Call) (agent.Result, error) { return c.call(ctx, name, call) }
	return out, nil
}

// call makes a call.
func (c *connection) call(ctx context.Context, tool string, call *agent.Call) (agent.Result, error) {
	s, err := c.live(ctx)
	if err != nil {
		return agent.Result{}, fmt.Errorf("MCP server %s: %w", c.server.Name, err)
	}
	token := c.listen(call.Progress)
	defer c.unlisten(token)
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = stdjson.RawMessage(`{}`)
	}
	p := &sdk.CallToolParams{Name: tool, Arguments: arguments}
	p.SetProgressToken(token)
	r, err := s.CallTool(ctx, p)
	switch {
	case err == nil:
		return resultOf(r), nil
	case ctx.Err() != nil:
		if c.server.Type != "stdio" {
			c.cancels.add(1)
		}
		return agent.Result{}, ctx.Err()
	case over(err):
		c.lost(s)
		_ = s.Close() // waits for the last words of the server
		return agent.Result{}, c.because(fmt.Errorf("MCP server %s has ended during the call; what the call has done is not known", c.server.Name))
	}
	return agent.Result{}, fmt.Errorf("MCP server %s: %w", c.server.Name, err)
}

// over reports whether an error means that the session with a server has ended.
func over(err error) bool {
	return errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// mostName is how long the API lets the name of a tool be.
const mostName = 64

// toolName returns the name of a tool for the API. What it does not take becomes an underscore; of what is too long the end becomes a hash.
func toolName(server, tool string) string {
	name := "mcp__" + clean(server) + "__" + clean(tool)
	if len(name) <= mostName {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	end := "_" + hex.EncodeToString(sum[:4])
	return name[:mostName-len(end)] + end
}

// clean returns a name with the characters that the API takes.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}
