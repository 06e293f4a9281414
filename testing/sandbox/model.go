package sandbox

import (
	"context"
	stdjson "encoding/json"
	"slices"

	"github.com/decantdev/decant"
)

// A Model is what answers behind the API. It is asked once for each request that is legal; the
// server does the rest: signatures, ids, limits, usage.
type Model interface {
	// Answer returns what the model says. An error becomes a 500, never an answer.
	// It may be called by several requests at once.
	Answer(ctx context.Context, p *Prompt) (Answer, error)
}

// A Prompt is a request as the model reads it.
type Prompt struct {
	Model     string // as the request names it
	Session   string // the client's session id where it sends one, else its key
	MaxTokens int
	Thinking  decant.Thinking      // the mode in force
	Choice    string               // type of tool_choice, empty when not given
	Named     string               // the tool that tool_choice demands
	OneCall   bool                 // no parallel calls
	Tools     []string             // names of those that it may call
	Schemas   []stdjson.RawMessage // of the arguments of Tools, one for each; nil where there is none
	System    []string             // texts
	Messages  []Message            // neighbours of one role merged; what a compaction left is a message of the user
}

// A Message is what one role says.
type Message struct {
	Role   decant.Role
	Blocks []Block
}

// A Block is a block of a prompt or of an answer.
type Block struct {
	Kind   decant.Kind
	Text   string             // of text, of thinking, and of a result all text within it
	ID     string             // of a use and its result; in an answer empty for a fresh one
	Name   string             // of a use
	Input  stdjson.RawMessage // of a use, an object; nil is an empty one
	Redact bool               // of thinking in an answer: the client gets it encrypted
}

// An Answer is what a model says to a prompt.
type Answer struct {
	// Blocks in order: thinking, text and uses. Thinking is left out when the request has it off.
	Blocks []Block
	// Stop is the stop reason; empty means "tool_use" when there are uses and "end_turn" otherwise. An answer without
	// blocks gets a text unless its Stop is given.
	Stop string
}

// Answers returns how many messages of the assistant the prompt holds.
func (p *Prompt) Answers() int {
	n := 0
	for i := range p.Messages {
		if p.Messages[i].Role == decant.RoleAssistant {
			n++
		}
	}
	return n
}

// Last returns the text of the last message with the given role, without its results.
func (p *Prompt) Last(role decant.Role) string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == role {
			return p.Messages[i].text()
		}
	}
	return ""
}

func (m *Message) text() string {
	out := ""
	for i := range m.Blocks {
		if m.Blocks[i].Kind == decant.KindText {
			out += m.Blocks[i].Text + "\n"
		}
	}
	return out
}

// prompt returns the request as its model reads it.
func (q *request) prompt(session string, e *edited) *Prompt {
	choice := q.body.get("tool_choice")
	p := &Prompt{
		Model: q.body.str("model"), Session: session, MaxTokens: q.max, Thinking: decant.Thinking(q.mode()),
		Choice: choice.str("type"), Named: choice.str("name"), OneCall: choice.is("disable_parallel_tool_use"),
	}
	p.Tools = q.available(e)
	for _, name := range p.Tools {
		p.Schemas = append(p.Schemas, q.tool(name).get("input_schema").source())
	}
	for _, b := range q.system {
		p.System = append(p.System, b.str("text"))
	}
	for _, t := range q.turns {
		m := Message{Role: decant.Role(t.role)}
		for _, b := range t.blocks {
			switch n := e.shown(b.node); {
			case n == nil:
			case b.kind == compactionKind:
				p.Messages = append(p.Messages, Message{Role: decant.RoleUser, Blocks: []Block{text(n.str("content"))}})
			default:
				m.Blocks = append(m.Blocks, read(n))
			}
		}
		if len(m.Blocks) > 0 || !t.has(compactionKind) {
			p.Messages = append(p.Messages, m)
		}
	}
	return p
}

// tool returns the definition of a tool.
func (q *request) tool(name string) *node {
	i := slices.IndexFunc(q.tools, func(t *node) bool { return t.str("name") == name })
	return q.tools[i]
}

// source returns a value as it was sent, nil for none.
func (n *node) source() stdjson.RawMessage {
	if n == nil {
		return nil
	}
	return stdjson.RawMessage(n.raw)
}

// read returns a block as a model sees it.
func read(b *node) Block {
	switch b.str("type") {
	case "text":
		return Block{Kind: decant.KindText, Text: b.str("text")}
	case "thinking":
		return Block{Kind: decant.KindThinking, Text: b.str("thinking")}
	case "redacted_thinking":
		return Block{Kind: decant.KindThinking, Redact: true}
	case "tool_use":
		return Block{Kind: decant.KindUse, ID: b.str("id"), Name: b.str("name"), Input: stdjson.RawMessage(b.get("input").raw)}
	case "tool_result":
		out := Block{Kind: decant.KindResult, ID: b.str("tool_use_id")}
		for _, inner := range b.get("content").blocks() {
			out.Text += inner.str("text")
		}
		return out
	case "image", "document":
		return Block{Kind: decant.KindImage}
	}
	return Block{Kind: decant.KindOpaque, Text: string(b.raw)}
}
