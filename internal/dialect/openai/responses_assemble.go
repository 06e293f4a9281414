package openai

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// Fixed implements dialect.Requests. The system prompt is a list: the instructions, or null, and then each item that
// configures the model, behind the number of the message that it follows.
func (Responses) Fixed(r *wire.Document) (system, tools []byte) {
	system = append(system, '[')
	if at := r.Member("instructions"); at.IsZero() {
		system = append(system, "null"...)
	} else {
		system = append(system, at.Of(r.Source)...)
	}
	bare := len(system)
	for after, item := range r.FixedItems() {
		system = append(strconv.AppendInt(append(system, ','), int64(after), 10), ',')
		system = append(system, item...)
	}
	if len(system) == bare && string(system) == "[null" {
		system = nil
	} else {
		system = append(system, ']')
	}
	if at := r.Member("tools"); !at.IsZero() {
		tools = at.Of(r.Source)
	}
	return system, tools
}

// Assemble implements dialect.Requests.
func (Responses) Assemble(p *dialect.Parts) []byte {
	params := p.Params
	if len(params) <= len("{}") {
		params = append(jsonspan.AppendQuote([]byte(`{"model":`), p.Model), '}')
	}
	w := itemWriter{out: params[: len(params)-1 : len(params)-1]}
	fixed := w.instructions(p.System)
	if p.Tools != nil {
		w.out = append(append(w.out, `,"tools":`...), p.Tools...)
	}
	w.out = append(w.out, `,"input":[`...)
	for i := range p.Messages {
		fixed = w.fixed(fixed, i)
		w.message(&p.Messages[i])
	}
	w.fixed(fixed, -1)
	if len(p.Answer) > len("[]") {
		w.item(p.Answer[1 : len(p.Answer)-1])
	}
	return append(w.out, "]}"...)
}

// An itemWriter writes the body of a request.
type itemWriter struct {
	out  []byte
	more bool // an item was written
}

// A fixedItem is an item that configures the model.
type fixedItem struct {
	after int // number of the message that it follows
	item  []byte
}

// instructions writes the instructions of a system prompt as Fixed has it, and returns the items of it.
func (w *itemWriter) instructions(system []byte) (items []fixedItem) {
	if system == nil {
		return nil
	}
	n, after := 0, 0
	sc := jsonspan.Scan(system, 0)
	for sc.Open(); sc.Next(); n++ {
		v := sc.Skip().Of(system)
		switch {
		case n == 0 && string(v) != "null":
			w.out = append(append(w.out, `,"instructions":`...), v...)
		case n%2 == 1:
			after, _ = strconv.Atoi(string(v)) // written by Fixed
		case n > 0:
			items = append(items, fixedItem{after, v})
		}
	}
	return items
}

// fixed writes those items that stand before the message with an index, or all of them for -1, and returns the rest.
func (w *itemWriter) fixed(items []fixedItem, before int) []fixedItem {
	for len(items) > 0 && (before < 0 || items[0].after <= before) {
		w.item(items[0].item)
		items = items[1:]
	}
	return items
}

// item writes one item, or several with commas between.
func (w *itemWriter) item(item []byte) {
	if w.more {
		w.out = append(w.out, ',')
	}
	w.out, w.more = append(w.out, item...), true
}

// message writes a message: those of its blocks that are parts of a content in items of their own.
func (w *itemWriter) message(m *dialect.Message) {
	inside := false
	for _, b := range m.Blocks {
		switch part := isPart(b.Bytes); {
		case part && inside:
			w.out = append(append(w.out, ','), b.Bytes...)
		case part:
			w.item(append(begun(m.Role), '['))
			w.out = append(w.out, partOf(b.Bytes, m.Role)...)
			inside = true
		default:
			w.close(&inside)
			w.item(whole(b.Bytes, m.Role))
		}
	}
	w.close(&inside)
}

// close ends the message that is being written.
func (w *itemWriter) close(inside *bool) {
	if *inside {
		w.out = append(w.out, "]}"...)
	}
	*inside = false
}

// begun returns how a message begins, up to its content.
func begun(r decant.Role) []byte {
	return append(jsonspan.AppendQuote([]byte(`{"type":"message","role":`), roleOf(r)), `,"content":`...)
}

// whole returns an item. What is no object is the content of a message that has none.
func whole(raw []byte, r decant.Role) []byte {
	if len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	return append(append(begun(r), raw...), '}')
}

// isPart reports whether a block is a part of the content of a message, and not an item.
func isPart(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return len(raw) > 0 && raw[0] == '"'
	}
	kind := jsonspan.MemberText(raw, "type")
	return strings.HasPrefix(kind, "input_") || strings.HasPrefix(kind, "output_") || strings.HasSuffix(kind, "text") ||
		kind == "refusal"
}

// partOf returns a part of the content of a message; a bare text becomes one.
func partOf(raw []byte, role decant.Role) []byte {
	if raw[0] != '"' {
		return raw
	}
	kind := `{"type":"input_text","text":`
	if role == decant.RoleAssistant {
		kind = `{"type":"output_text","text":`
	}
	return append(append([]byte(kind), raw...), '}')
}

// roleOf returns the API's word for a role.
func roleOf(r decant.Role) string {
	switch r {
	case decant.RoleAssistant:
		return "assistant"
	case decant.RoleSystem:
		return "developer"
	}
	return "user"
}
