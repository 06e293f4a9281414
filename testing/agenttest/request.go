package agenttest

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// A Request is what a model was asked.
type Request struct {
	Body   []byte // as it was sent
	Model  string
	System string
	Tools  []string // names of the tools that it offers
	Choice string   // type of tool_choice: "none" where they are switched off

	// Conversation is what the request says, with the types of the vocabulary.
	Conversation *decant.Conversation

	size  int // estimate in tokens
	tools map[string]string
}

// params are the members of a request that are read here.
type params struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Choice    struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Messages []struct {
		Content stdjson.RawMessage `json:"content"`
	} `json:"messages"`
}

// read reads a request, and says why the API would refuse it.
func (m *Model) read(body []byte) (*Request, error) {
	r := &Request{Body: slices.Clone(body), Conversation: &decant.Conversation{}}
	var p params
	if err := json.Unmarshal(body, &p); err != nil {
		return r, fmt.Errorf("it is not the JSON of a request: %w", err)
	}
	doc, err := wire.ParseAs(wire.Anthropic, r.Body)
	if err != nil {
		return r, err
	}
	r.take(doc.Conversation)
	r.Model, r.Choice = p.Model, p.Choice.Type
	model, _ := m.catalog.Lookup(p.Model)
	r.size = token.For(model).Conversation(r.Conversation).Total()
	switch {
	case p.Model == "":
		return r, errors.New("model: it is missing")
	case p.MaxTokens < 1:
		return r, fmt.Errorf("max_tokens: %d: it must be at least 1", p.MaxTokens)
	case len(p.Messages) == 0:
		return r, errors.New("messages: there are none")
	}
	var bad []error
	for _, v := range legal.Check(r.Conversation, legal.RulesFor(legal.Messages, model, r.Conversation.Thinking)) {
		bad = append(bad, fmt.Errorf("%s: %w", v.Rule, v))
	}
	return r, errors.Join(append(bad, p.blocks())...)
}

// take takes what a request says.
func (r *Request) take(c *decant.Conversation) {
	r.Conversation, r.tools = c, map[string]string{}
	for i := range c.Fixed.Tools {
		r.Tools = append(r.Tools, c.Fixed.Tools[i].Name)
	}
	var system []string
	for i := range c.Fixed.System {
		system = append(system, c.Fixed.System[i].Text())
	}
	r.System = strings.Join(system, "\n")
	for i := range c.Messages {
		for _, b := range c.Messages[i].Blocks {
			if b.Kind == decant.KindUse {
				r.tools[b.CallID] = b.Name
			}
		}
	}
}

// blocks says which content is no list of blocks, and which thinking of a fake model has not come back as it was.
func (p *params) blocks() error {
	for i := range p.Messages {
		content := p.Messages[i].Content
		if jsontext.Value(content).Kind() == jsontext.KindString {
			continue
		}
		var blocks []struct {
			Type      string `json:"type"`
			Thinking  string `json:"thinking"`
			Signature string `json:"signature"`
		}
		if err := json.Unmarshal(content, &blocks); err != nil {
			return fmt.Errorf("messages[%d].content: it is neither a text nor a list of blocks: %w", i, err)
		}
		for k, b := range blocks {
			switch {
			case b.Type == "":
				return fmt.Errorf("messages[%d].content[%d]: it has no type", i, k)
			case strings.HasPrefix(b.Signature, signed) && b.Signature != signature(b.Thinking):
				return fmt.Errorf("messages[%d].content[%d]: the thinking is not as the model has said it: %q", i, k, b.Thinking)
			}
		}
	}
	return nil
}

// New returns what is new in the request since the last answer of the model, in the form of String.
func (r *Request) New() string {
	ms := r.Conversation.Messages
	for i := range slices.Backward(ms) {
		if ms[i].Role == decant.RoleAssistant {
			return r.lines(ms[i+1:])
		}
	}
	return r.lines(ms)
}

// String returns the messages of the request, block by block:
//
//	user: What does it do?
//	assistant: I look.
//	call read {"path":"go.mod"}
//	result of read: module example.com/shop
//	error of read: there is no such file
func (r *Request) String() string { return r.lines(r.Conversation.Messages) }

// lines returns messages, block by block.
func (r *Request) lines(ms []decant.Message) string {
	var out []string
	for i := range ms {
		for k := range ms[i].Blocks {
			out = append(out, r.line(&ms[i], &ms[i].Blocks[k]))
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// line returns a block.
func (r *Request) line(m *decant.Message, b *decant.Block) string {
	switch {
	case b.Kind == decant.KindUse:
		return callLine(b.Name, b.Text())
	case b.Kind == decant.KindResult && b.Error:
		return "error of " + r.tools[b.CallID] + ": " + b.Text()
	case b.Kind == decant.KindResult:
		return "result of " + r.tools[b.CallID] + ": " + b.Text()
	case b.Kind == decant.KindText:
		return string(m.Role) + ": " + b.Text()
	}
	return string(m.Role) + ", " + string(b.Kind) + ": " + b.Text()
}

// callLine returns a call.
func callLine(tool, arguments string) string { return "call " + tool + " " + arguments }
