package export

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/parsing"
	"github.com/decantdev/decant/wire/internal/request"
)

// ParseSWEAgent reads a trajectory of SWE-agent: the messages under "history", which are those of the
// Chat Completions API. What the user says is the first of them; later messages of that role bring what
// commands printed.
func ParseSWEAgent(src []byte) (*parsing.Document, error) {
	return parseDialog(src, typed.SWEAgent, "history")
}

// ParseTauBench reads a dialog of tau-bench: the messages under "traj", which are those of the Chat
// Completions API.
func ParseTauBench(src []byte) (*parsing.Document, error) {
	return parseDialog(src, "", "traj")
}

func parseDialog(src []byte, agent, name string) (*parsing.Document, error) {
	s, list, err := dialog(src, agent, name)
	if err != nil {
		return nil, err
	}
	if list.IsZero() {
		return nil, parsing.FieldError(0, name, "missing, want a list of messages")
	}
	if err := request.AddChatMessages(s.Builder, list); err != nil {
		return nil, err
	}
	if agent == typed.SWEAgent {
		observations(s.Builder)
	}
	return s.finished()
}

// observations makes texts of the user's role, from the second message on, the client's.
func observations(b *parsing.Builder) {
	b.Finish()
	asked := false
	for i := range b.Conv.Messages {
		m := &b.Conv.Messages[i]
		for k := range m.Blocks {
			if asked && m.Role == decant.RoleUser {
				m.Blocks[k].Author = decant.AuthorClient
			}
		}
		asked = asked || m.Role == decant.RoleUser
	}
}
