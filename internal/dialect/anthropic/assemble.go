package anthropic

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

// leastOutput is asked for in bodies that are assembled without parameters: every model gives as much.
const leastOutput = 4096

// Assemble implements dialect.Requests. Cache markers are left out: they belong to requests and not to the
// conversation.
func (Dialect) Assemble(p *dialect.Parts) []byte {
	params := p.Params
	if len(params) <= len("{}") {
		params = fmt.Appendf(jsonspan.AppendQuote([]byte(`{"model":`), p.Model), `,"max_tokens":%d}`, leastOutput)
	}
	w := bodyWriter{out: params[: len(params)-1 : len(params)-1]}
	if p.System != nil {
		w.out = append(w.out, `,"system":`...)
		w.blocks(p.System)
	}
	if p.Tools != nil {
		w.out = append(w.out, `,"tools":`...)
		w.blocks(p.Tools)
	}
	w.out = append(w.out, `,"messages":[`...)
	for i := range p.Messages {
		w.message(&p.Messages[i], i > 0)
	}
	if p.Answer != nil {
		w.begin(len(p.Messages) > 0, decant.RoleAssistant)
		w.out = append(append(w.out, p.Answer...), '}')
	}
	return append(w.out, "]}"...)
}

// A bodyWriter writes the body of a request.
type bodyWriter struct{ out []byte }

// message writes a message.
func (w *bodyWriter) message(m *dialect.Message, more bool) {
	w.begin(more, m.Role)
	w.out = append(w.out, '[')
	for i, b := range m.Blocks {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.block(b.Bytes)
	}
	w.out = append(w.out, "]}"...)
}

// begin begins a message, up to its content.
func (w *bodyWriter) begin(more bool, role decant.Role) {
	if more {
		w.out = append(w.out, ',')
	}
	w.out = jsonspan.AppendQuote(append(w.out, `{"role":`...), string(role))
	w.out = append(w.out, `,"content":`...)
}

// blocks writes a list of blocks, or the string in its place.
func (w *bodyWriter) blocks(list []byte) {
	sc := jsonspan.Scan(list, 0)
	if sc.Kind() != '[' {
		w.out = append(w.out, list...)
		return
	}
	w.out = append(w.out, '[')
	more := false
	for sc.Open(); sc.Next(); more = true {
		if more {
			w.out = append(w.out, ',')
		}
		w.block(sc.Skip().Of(list))
	}
	w.out = append(w.out, ']')
}

// block writes one block without its cache marker; a string becomes a block of text. Members keep
// their order and bytes.
func (w *bodyWriter) block(raw []byte) {
	sc := jsonspan.Scan(raw, 0)
	switch sc.Kind() {
	case '{':
	case '"':
		w.out = append(append(append(w.out, `{"type":"text","text":`...), raw...), '}')
		return
	default:
		w.out = append(w.out, raw...)
		return
	}
	w.out = append(w.out, '{')
	more := false
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		value := sc.Skip().Of(raw)
		if name == "cache_control" {
			continue
		}
		if more {
			w.out = append(w.out, ',')
		}
		more = true
		w.out = append(jsonspan.AppendQuote(w.out, name), ':')
		if name == "content" {
			w.blocks(value)
		} else {
			w.out = append(w.out, value...)
		}
	}
	w.out = append(w.out, '}')
}
