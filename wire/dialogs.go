package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/typed"
)

// parseSWEAgent reads a trajectory of SWE-agent: the messages under "history", which are those of the
// Chat Completions API. What the user says is the first of them; later messages of that role bring what
// commands printed.
func parseSWEAgent(src []byte) (*parsed, error) {
	return parseDialog(src, typed.SWEAgent, "history")
}

// parseTauBench reads a dialog of tau-bench: the messages under "traj", which are those of the Chat
// Completions API.
func parseTauBench(src []byte) (*parsed, error) {
	return parseDialog(src, "", "traj")
}

func parseDialog(src []byte, agent, name string) (*parsed, error) {
	s, list, err := dialog(src, agent, name)
	if err != nil {
		return nil, err
	}
	if list.IsZero() {
		return nil, fieldError(0, name, "missing, want a list of messages")
	}
	if err := chatMessages(s.builder, list); err != nil {
		return nil, err
	}
	if agent == typed.SWEAgent {
		observations(s.builder)
	}
	return s.finished()
}

// observations makes texts of the user's role, from the second message on, the client's.
func observations(b *builder) {
	b.finish()
	asked := false
	for i := range b.conv.Messages {
		m := &b.conv.Messages[i]
		for k := range m.Blocks {
			if asked && m.Role == decant.RoleUser {
				m.Blocks[k].Author = decant.AuthorClient
			}
		}
		asked = asked || m.Role == decant.RoleUser
	}
}
