package agent

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/wire"
)

// Load begins a session with messages from elsewhere, each a JSON object of the Messages API. What the API would refuse of them is
// mended: a call without a result gets one that says so, a result without a call goes.
func (a *Agent) Load(id string, messages []stdjson.RawMessage) (*Session, error) {
	s, h := a.Session(id), make(history, 0, len(messages))
	for i, m := range messages {
		m, err := ownMessage(m)
		if err != nil {
			return nil, fmt.Errorf("agent: message %d: %w", i+1, err)
		}
		h = append(h, m)
	}
	if len(h) == 0 {
		return s, nil
	}
	h, err := a.mended(h)
	if err != nil {
		return nil, fmt.Errorf("agent: the messages of session %s: %w", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.do(&step{Messages: h})
}

// ownMessage returns a message as we write it: its role, and its content as a list of blocks.
func ownMessage(m stdjson.RawMessage) (stdjson.RawMessage, error) {
	var parts struct {
		Role    string             `json:"role"`
		Content stdjson.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(m, &parts, lenient); err != nil {
		return nil, err
	}
	content := parts.Content
	switch jsontext.Value(content).Kind() {
	case jsontext.KindString:
		var text string
		if err := json.Unmarshal(content, &text, lenient); err != nil {
			return nil, err
		}
		content = append(append([]byte{'['}, textBlock(text)...), ']')
	case jsontext.KindBeginArray:
	default:
		return nil, errors.New("its content is neither a text nor a list")
	}
	switch parts.Role {
	case "user":
		return userMessage([][]byte{bytes.TrimSpace(content[1 : len(content)-1])}), nil
	case "assistant":
		return answered(content), nil
	}
	return nil, fmt.Errorf("its role is neither user nor assistant: %q", parts.Role)
}

// mended returns a history that the API takes.
func (a *Agent) mended(h history) (history, error) {
	src := []byte(`{"messages":[`)
	for i, m := range h {
		if i > 0 {
			src = append(src, ',')
		}
		src = append(src, m...)
	}
	doc, err := wire.ParseAs(wire.Anthropic, append(src, `]}`...))
	if err != nil {
		return nil, err
	}
	c := doc.Conversation
	view, _, err := legal.Mend(c, legal.RulesFor(legal.Messages, a.model, c.Thinking).Of(c))
	if err != nil {
		return nil, err
	}
	out, err := doc.Render(view)
	if err != nil {
		return nil, err
	}
	var body struct {
		Messages history `json:"messages"`
	}
	err = json.Unmarshal(out, &body, lenient)
	return body.Messages, err
}
