package anthropic

import (
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
)

// ErrUnanswered means that a request waits for the result of a call, so that nothing else can be said.
var ErrUnanswered = errors.New("the last call of the request has no result")

// AppendTurn returns the body of a request at whose end the user says text, too. Everything else stays as it
// is, byte for byte up to the end of the last message, and all that the provider has in its cache is found
// there again: tools, the choice of tools, thinking, and cache markers. Where the last message is the user's,
// text becomes a block behind its others, because roles alternate; otherwise it is a message of its own. It
// returns ErrUnanswered where the model has called a tool and has no result yet.
func AppendTurn(body []byte, text string) ([]byte, error) {
	if err := jsonspan.Validate(body); err != nil {
		return nil, fmt.Errorf("append to a request: %w", err)
	}
	last, err := lastMessages(body)
	if err != nil {
		return nil, err
	}
	if len(last.calls.open) > 0 {
		return nil, ErrUnanswered
	}
	block := append(jsonspan.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
	if role(body, last.message) != "user" {
		message := append(append([]byte(`,{"role":"user","content":[`), block...), "]}"...)
		return spliced(body, jsonspan.Span{Start: last.message.End, End: last.message.End}, message), nil
	}
	at := jsonspan.Member(body, last.message.Start, "content")
	switch raw := at.Of(body); {
	case len(raw) > 0 && raw[0] == '"':
		list := append(append([]byte(`[{"type":"text","text":`), raw...), "},"...)
		return spliced(body, at, append(append(list, block...), ']')), nil
	case len(raw) > 0 && raw[0] == '[' && last.blocks == 0:
		return spliced(body, at, append(append([]byte{'['}, block...), ']')), nil
	case len(raw) > 0 && raw[0] == '[':
		end := jsonspan.Span{Start: last.end, End: last.end}
		return spliced(body, end, append([]byte{','}, block...)), nil
	}
	return nil, errors.New("append to a request: the last message has no content")
}

// spliced returns body with other bytes in place of a span.
func spliced(body []byte, at jsonspan.Span, with []byte) []byte {
	out := make([]byte, 0, len(body)+len(with))
	out = append(append(out, body[:at.Start]...), with...)
	return append(out, body[at.End:]...)
}

// A lastTurn is what a request ends with.
type lastTurn struct {
	message     jsonspan.Span // the last message
	blocks, end int           // its blocks, and where the last of them ends
	calls       calls         // of the assistant's turn that it ends with
}

// lastMessages finds the end of a request.
func lastMessages(body []byte) (t lastTurn, err error) {
	at := jsonspan.Member(body, 0, "messages")
	if at.IsZero() || body[at.Start] != '[' {
		return t, errors.New("append to a request: it has no list of messages")
	}
	for s := elementsOf(body, at); s.Next(); {
		t.message = s.Skip()
		t.calls.message(body, t.message)
	}
	if t.message.IsZero() || body[t.message.Start] != '{' {
		return t, errors.New("append to a request: it has no messages")
	}
	if content := jsonspan.Member(body, t.message.Start, "content"); !content.IsZero() && body[content.Start] == '[' {
		for s := elementsOf(body, content); s.Next(); t.blocks++ {
			t.end = s.Skip().End
		}
	}
	return t, nil
}

// elementsOf returns a scanner that is in front of the first element of an array.
func elementsOf(body []byte, at jsonspan.Span) jsonspan.Scanner {
	s := jsonspan.Scan(body, at.Start)
	s.Open()
	return s
}

// role returns whose message it is.
func role(body []byte, message jsonspan.Span) string {
	return jsonspan.MemberText(message.Of(body), "role")
}

// calls are those of a turn of the assistant that have no result yet. The turn continues for as long as the
// client sends results alone; the server's own calls in it may get theirs in a later message.
type calls struct {
	open map[string]bool // by id
	said bool            // something besides results has followed
}

// message takes in the next message.
func (c *calls) message(body []byte, at jsonspan.Span) {
	if body[at.Start] != '{' {
		return
	}
	assistant := role(body, at) == "assistant"
	if c.open == nil || assistant && c.said {
		*c = calls{open: map[string]bool{}}
	}
	content := jsonspan.Member(body, at.Start, "content")
	if content.IsZero() || body[content.Start] != '[' {
		c.said = c.said || !assistant
		return
	}
	for s := elementsOf(body, content); s.Next(); {
		result := c.block(s.Skip().Of(body))
		c.said = c.said || !assistant && !result
	}
}

// block notes a call, or that it has its result, and reports whether the block is a result.
func (c *calls) block(block []byte) bool {
	if len(block) == 0 || block[0] != '{' {
		return false
	}
	kind := jsonspan.MemberText(block, "type")
	switch kind {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		c.open[jsonspan.MemberText(block, "id")] = true
	default:
		delete(c.open, jsonspan.MemberText(block, "tool_use_id"))
	}
	return strings.HasSuffix(kind, "tool_result")
}
