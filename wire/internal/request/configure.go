package request

import (
	"strings"

	"github.com/decantdev/decant"
)

// Configures reports whether an item of the Responses API says how the model is to work and is no part of what happened:
// tools, settings, and whatever the developer says. before is the block before it, nil for none.
//
// Of an item of an unknown type that has no role, this is so unless it is named like a call or an output, or follows the
// reasoning that it came from. To keep what is history costs room; to lose what configures breaks the session.
func Configures(kind, role string, before *decant.Block) bool {
	switch {
	case role == "system" || role == "developer":
		return true
	case role != "" || happened[kind] || IsCompaction(kind) || strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_output"):
		return false
	}
	return before == nil || before.Kind != decant.KindThinking
}

// happened are the types of items, beside calls and their outputs, that are history.
var happened = map[string]bool{
	"": true, "message": true, "agent_message": true, "reasoning": true, "program": true, "compaction_trigger": true,
	"mcp_approval_request": true, "mcp_approval_response": true,
}

// IsCompaction reports whether items of a type stand for messages that the provider has summarised for itself.
func IsCompaction(kind string) bool {
	return kind == "compaction" || kind == "compaction_summary" || kind == "context_compaction"
}
