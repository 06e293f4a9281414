package main

import (
	"context"
	"encoding/json"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// notesServer is an MCP server with one tool.
func notesServer() {
	s := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "read_note", Description: "Reads the note.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "The port is 7001."}}}, nil
	})
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		os.Exit(1)
	}
}
