// Package mcp lets agents use the tools of MCP servers.
//
//	servers, err := mcp.Read(".mcp.json", src, nil)
//	...
//	set := mcp.Open(ctx, servers, mcp.Options{})
//	defer set.Close()
//	tools, err := set.Tools(ctx)
//
// A tool is named mcp__SERVER__TOOL. One that its server calls read-only may be called at once; of any other one somebody must allow each
// call. Results are texts and images; links and structured data are written as text. The list of tools keeps its order, and does
// not change before Tools is asked for it again, so that the provider's cache stays valid: ask at the beginning of a session.
//
// A server that ends during a call makes that call fail, and is started again once for the next one. Of the environment a server
// gets only what its configuration names and what programs need to find their way, never the keys of this program.
package mcp
