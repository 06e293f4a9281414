package openai

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

// Assemble implements dialect.Requests. An answer is the assistant's whole message.
func (Chat) Assemble(p *dialect.Parts) []byte {
	params := p.Params
	if len(params) <= len("{}") {
		params = append(jsonspan.AppendQuote([]byte(`{"model":`), p.Model), '}')
	}
	w := chatWriter{out: params[: len(params)-1 : len(params)-1]}
	if p.Tools != nil {
		w.out = append(append(w.out, `,"tools":`...), p.Tools...)
	}
	w.out = append(w.out, `,"messages":[`...)
	sc := jsonspan.Scan(p.System, 0)
	for sc.Open(); len(p.System) > 0 && sc.Next(); {
		w.begin()
		w.out = append(w.out, sc.Skip().Of(p.System)...)
	}
	for i := range p.Messages {
		w.message(&p.Messages[i])
	}
	if p.Answer != nil {
		w.begin()
		w.out = append(w.out, p.Answer...)
	}
	return append(w.out, "]}"...)
}

// A chatWriter writes the body of a request.
type chatWriter struct {
	out  []byte
	more bool // a message stands before the next one
}

// begin begins a message.
func (w *chatWriter) begin() {
	if w.more {
		w.out = append(w.out, ',')
	}
	w.more = true
}

// message writes a message; results are messages of their own.
func (w *chatWriter) message(m *dialect.Message) {
	var reasoning, function []byte
	var parts, calls [][]byte
	for _, b := range m.Blocks {
		switch {
		case b.Kind == decant.KindResult:
			w.begin()
			w.out = append(w.out, b.Bytes...)
		case b.Kind == decant.KindThinking:
			reasoning = b.Bytes
		case b.Kind != decant.KindUse:
			parts = append(parts, b.Bytes)
		case isFunctionCall(b.Bytes):
			function = b.Bytes
		default:
			calls = append(calls, b.Bytes)
		}
	}
	if m.Role == decant.RoleTool {
		return
	}
	w.begin()
	w.out = jsonspan.AppendQuote(append(w.out, `{"role":`...), string(m.Role))
	w.out = append(w.out, `,"content":`...)
	w.content(parts)
	w.member("reasoning_content", reasoning)
	w.member("function_call", function)
	if len(calls) > 0 {
		w.out = append(w.out, `,"tool_calls":`...)
		w.list(calls)
	}
	w.out = append(w.out, '}')
}

// isFunctionCall reports whether a call is the value of the old member for one, which has no id.
func isFunctionCall(call []byte) bool {
	return jsonspan.Member(call, 0, "id").IsZero() && jsonspan.Member(call, 0, "function").IsZero()
}

// content writes the value of a message's content.
func (w *chatWriter) content(parts [][]byte) {
	switch {
	case len(parts) == 0:
		w.out = append(w.out, "null"...)
	case len(parts) == 1 && parts[0][0] != '{':
		w.out = append(w.out, parts[0]...)
	default:
		for i, p := range parts {
			if p[0] == '"' { // a refusal that stands beside the content
				parts[i] = append(append([]byte(`{"type":"text","text":`), p...), '}')
			}
		}
		w.list(parts)
	}
}

// member writes a member that may be missing.
func (w *chatWriter) member(name string, value []byte) {
	if value != nil {
		w.out = append(append(append(w.out, `,"`+name...), `":`...), value...)
	}
}

// list writes a list.
func (w *chatWriter) list(of [][]byte) {
	w.out = append(w.out, '[')
	for i, v := range of {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, v...)
	}
	w.out = append(w.out, ']')
}
