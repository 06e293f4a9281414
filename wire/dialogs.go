package wire

import (
	"bytes"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// parseSWEAgent reads a trajectory of SWE-agent: the messages under "history", which are those of the
// Chat Completions API. What the user says is the first of them; later messages of that role bring what
// commands printed.
func parseSWEAgent(src []byte) (*Document, error) {
	return parseDialog(src, SWEAgent, AgentSWEAgent, "history")
}

// parseTauBench reads a dialog of tau-bench: the messages under "traj", which are those of the Chat
// Completions API.
func parseTauBench(src []byte) (*Document, error) {
	return parseDialog(src, TauBench, "", "traj")
}

func parseDialog(src []byte, f Format, agent, name string) (*Document, error) {
	s, list, err := dialog(src, agent, name)
	if err != nil {
		return nil, err
	}
	if list.IsZero() {
		return nil, fieldError(0, name, "missing, want a list of messages")
	}
	p := chatParser{builder: s.builder}
	sc := jsonspan.Scan(s.src, list.Start)
	if err := p.messages(&sc); err != nil {
		return nil, err
	}
	if f == SWEAgent {
		p.observations()
	}
	return s.foreign(f)
}

// observations makes texts of the user's role, from the second message on, the client's.
func (p *chatParser) observations() {
	p.finish()
	asked := false
	for i := range p.conv.Messages {
		m := &p.conv.Messages[i]
		for k := range m.Blocks {
			if asked && m.Role == decant.RoleUser {
				m.Blocks[k].Author = decant.AuthorClient
			}
		}
		asked = asked || m.Role == decant.RoleUser
	}
}

// parseMessages reads a bare list of messages, of the Messages API or of Chat Completions: what only one
// of them has decides, and where nothing does, both mean the same.
func parseMessages(src []byte) (*Document, error) {
	src = bytes.TrimPrefix(src, byteOrderMark)
	if err := jsonspan.Validate(src); err != nil {
		return nil, invalid(src, err)
	}
	list := outer(src)
	if src[list.Start] != '[' {
		return nil, fieldError(list.Start, "body", "want a list of messages")
	}
	c := chooser{src: src, messages: true}
	c.choose(list.Start)
	sc := jsonspan.Scan(src, list.Start)
	if c.anthropic > c.chat {
		p := anthropicParser{builder: newBuilder(src)}
		if err := p.messages(&sc); err != nil {
			return nil, err
		}
		return p.bare(p.body, Anthropic), nil
	}
	p := chatParser{builder: newBuilder(src)}
	if err := p.messages(&sc); err != nil {
		return nil, err
	}
	p.conv.Fixed.Version = version(&p.conv.Fixed)
	p.conv.Agent = bodyAgent(p.conv.Fixed.System)
	return p.bare(p.body, OpenAIChat), nil
}

// bare ends the construction of a document that is a list of messages as an API writes them.
func (b *builder) bare(l body, api Format) *Document {
	d := b.bodyDocument(Messages, l)
	d.api = api
	return d
}
