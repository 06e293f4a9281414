package wire

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/typed"
)

// The agents whose client text is known, as [decant.Conversation.Agent] names them.
const (
	AgentClaudeCode = typed.ClaudeCode
	AgentCodex      = typed.Codex
	AgentOpencode   = typed.Opencode
	AgentPi         = typed.Pi
	AgentCopilot    = typed.Copilot
	AgentGemini     = typed.Gemini
	AgentSWEAgent   = typed.SWEAgent
	AgentOpenHands  = typed.OpenHands
)

// authorOf returns who wrote a text of the user's role: the client when no word of it is the
// user's. A text that holds both is the user's.
func authorOf(agent, text string) decant.Author {
	if strings.TrimSpace(typed.Words(agent, text)) == "" {
		return decant.AuthorClient
	}
	return decant.AuthorUser
}
