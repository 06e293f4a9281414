//go:build unix

package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/sandbox"
)

// opsServer is an MCP server with a tool that only reads, whose results are long and have a secret, one that says nothing of itself, and one that may be
// allowed.
func opsServer() {
	s := sdk.NewServer(&sdk.Implementation{Name: "ops", Version: "1"}, nil)
	add := func(name string, reads bool) {
		t := &sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(`{"type":"object"}`)}
		if reads {
			t.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true}
		}
		s.AddTool(t, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			text := name + " says: deployed by joan@corp.example.org with ghp_" + strings.Repeat("a1B2", 9) + "\n" + strings.Repeat("more of it\n", 2000)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
	}
	add("deployments", true)
	add("restart", false)
	add("query", false)
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		os.Exit(1)
	}
}

// A curious is an analyst that first calls a tool of an MCP server.
type curious struct{ analyst.Analyst }

// Answer implements sandbox.Model.
func (c curious) Answer(ctx context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	if p.Answers() == 0 {
		return sandbox.Answer{Blocks: []sandbox.Block{
			{Kind: decant.KindUse, Name: "mcp__ops__deployments", Input: []byte(`{}`)},
			{Kind: decant.KindUse, Name: "mcp__ops__query", Input: []byte(`{}`)},
		}}, nil
	}
	return c.Analyst.Answer(ctx, p)
}

// An investigation has those that only read and those that are allowed, and no others. Results are short and masked.
// A server that is not there is a notice.
func TestToolsOfMCPServers(t *testing.T) {
	f := newFieldOf(t, nil, curious{})
	f.write(".mcp.json", `{"mcpServers": {"ops": {"command": "ops-server"}, "gone": {"command": "no-such-program-here"}}}`)
	settings, err := os.ReadFile(f.file(".decant/triage.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write(".decant/triage.yaml", string(settings)+"mcp: {file: ../.mcp.json, allow: [mcp__ops__query, mcp__ops__none]}\n")
	r := f.triage("run", "--since", "2026-10-21", "--max-errors", "1", "--error-tokens", "90000")
	if r.code != 0 || !strings.Contains(r.out, "1 investigated") {
		t.Fatalf("exit %d: %s\n%s", r.code, r.out, r.errs)
	}
	for _, want := range []string{"gone", "mcp__ops__none, which no MCP server has"} {
		if !strings.Contains(strings.ReplaceAll(r.out, `\_`, "_"), want) {
			t.Errorf("the report does not say %q:\n%s", want, r.out)
		}
	}
	last := string(f.Model.Log.Last().Body)
	for want, is := range map[string]bool{"mcp__ops__deployments": true, "mcp__ops__query": true, "mcp__ops__restart": false, "deployments says: deployed by [email-": true,
		"query says: deployed by [email-": true, "joan@corp": false, "a1B2a1B2": false} {
		if strings.Contains(last, want) != is {
			t.Errorf("the prompt has %q: %v, want %v", want, !is, is)
		}
	}
	if n := strings.Count(last, "more of it"); n > 2*4000/len("more of it\n") {
		t.Errorf("results are too long: %d lines", n)
	}
}
