package tool

import "strings"

// Expands reports whether a tool is the one by which Decant's MCP server gives originals back, as clients call it:
// mcp__decant__expand, mcp__plugin_decant_decant__expand, decant_expand.
func Expands(name string) bool {
	server, ok := strings.CutSuffix(name, "expand")
	return ok && (strings.HasSuffix(server, "decant__") || strings.HasSuffix(server, "decant_") ||
		strings.HasSuffix(server, "decant.") || strings.HasSuffix(server, "decant-"))
}
