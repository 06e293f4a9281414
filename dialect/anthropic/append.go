package anthropic

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant/internal/jsonspan"
)

// ErrUnanswered means that a request waits for the result of a call, so that nothing else can be said.
var ErrUnanswered = errors.New("the last call of the request has no result")

// AppendTurn returns the body of a request at whose end the user says text, too. Everything else stays as it is, byte for
// byte up to the end of the last message, and all that the provider has in its cache is found there again: tools, the
// choice of tools, thinking, and cache markers. Where the last message is the user's, text becomes a block behind its
// others, because roles alternate; otherwise it is a message of its own. It returns ErrUnanswered where the model has
// called a tool and has no result yet.
func AppendTurn(body []byte, text string) ([]byte, error) {
	if err := jsonspan.Validate(body); err != nil {
		return nil, fmt.Errorf("append to a request: %w", err)
	}
	last, err := lastMessages(body)
	if err != nil {
		return nil, err
	}
	if err := last.answered(body); err != nil {
		return nil, err
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
	before, message jsonspan.Span // the last two messages; before may be missing
	blocks, end     int           // blocks of the last message, and where the last of them ends
}

// lastMessages finds the end of a request.
func lastMessages(body []byte) (t lastTurn, err error) {
	at := jsonspan.Member(body, 0, "messages")
	if at.IsZero() || body[at.Start] != '[' {
		return t, errors.New("append to a request: it has no list of messages")
	}
	for s := elementsOf(body, at); s.Next(); {
		t.before, t.message = t.message, s.Skip()
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

// answered returns ErrUnanswered unless every call of the newest answer has its result. Calls that the provider carries out
// itself have theirs in the same message.
func (t *lastTurn) answered(body []byte) error {
	open := map[string]bool{}
	for _, m := range [...]jsonspan.Span{t.before, t.message} {
		if m.IsZero() {
			continue
		}
		content := jsonspan.Member(body, m.Start, "content")
		if content.IsZero() || body[content.Start] != '[' {
			continue
		}
		for s := elementsOf(body, content); s.Next(); {
			note(open, s.Skip().Of(body))
		}
	}
	if len(open) > 0 {
		return ErrUnanswered
	}
	return nil
}

// note notes a call, or that it has its result.
func note(open map[string]bool, block []byte) {
	if len(block) == 0 || block[0] != '{' {
		return
	}
	switch jsonspan.MemberText(block, "type") {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		open[jsonspan.MemberText(block, "id")] = true
	default:
		delete(open, jsonspan.MemberText(block, "tool_use_id"))
	}
}
