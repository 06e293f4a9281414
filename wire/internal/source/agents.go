package source

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/typed"
)

// agentHeads are the first words of the system prompts of the agent programs that are known.
var agentHeads = []struct{ head, agent string }{
	{"You are Claude Code", typed.ClaudeCode},
	{"You are a Claude agent", typed.ClaudeCode},
	{"You are Codex", typed.Codex},
	{"You are a coding agent running in the Codex CLI", typed.Codex},
	{"You are opencode", typed.Opencode},
}

// AgentOf tells which agent program wrote a request from how a block of its system prompt begins; ""
// when it is none of the known.
func AgentOf(system []decant.Block) string {
	for i := range system {
		text := system[i].Text()
		for _, a := range agentHeads {
			if strings.HasPrefix(text, a.head) {
				return a.agent
			}
		}
	}
	return ""
}

// AuthorOf returns who wrote a text of the user's role: the client when no word of it is the
// user's. A text that holds both is the user's.
func AuthorOf(agent, text string) decant.Author {
	if strings.TrimSpace(typed.Words(agent, text)) == "" {
		return decant.AuthorClient
	}
	return decant.AuthorUser
}
