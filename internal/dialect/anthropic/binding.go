package anthropic

import (
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// bindingBeta permits thinking.block_binding in a request (docs/reference/anthropic.md, "Bound thinking").
const bindingBeta = "thinking-binding-controls-2026-08-01"

// Drop implements dialect.Dropper: the parameters are the thinking parameter with the instruction.
func (Dialect) Drop(body []byte) (params []byte, beta string, ok bool) {
	at := jsonspan.Member(body, 0, "thinking")
	if at.IsZero() || body[at.Start] != '{' {
		return nil, "", false
	}
	sc := jsonspan.Scan(body, at.Start)
	n := 0
	for sc.Open(); sc.Next(); n++ {
		if string(sc.Name()) == "block_binding" {
			return nil, "", false
		}
		sc.Skip()
	}
	if n == 0 {
		return nil, "", false
	}
	value := at.Of(body)
	params = append([]byte(nil), value[:len(value)-1]...)
	return append(params, `,"block_binding":{"prefix_mismatch_behavior":"drop_block"}}`...), bindingBeta, true
}

// WithParams implements dialect.Dropper.
func (Dialect) WithParams(body, params []byte) []byte {
	at := jsonspan.Member(body, 0, "thinking")
	if at.IsZero() {
		return body
	}
	out := make([]byte, 0, len(body)+len(params))
	out = append(append(out, body[:at.Start]...), params...)
	return append(out, body[at.End:]...)
}

// Unfit implements dialect.Dropper.
func (Dialect) Unfit(r *wire.Document) dialect.Unfit {
	at := r.Member("thinking")
	if at.IsZero() {
		return dialect.UnfitUnsaid
	}
	switch mismatchOf(at.Of(r.Source)) {
	case "":
		return dialect.UnfitUnsaid
	case "drop_block":
		return dialect.UnfitDropped
	}
	return dialect.UnfitRefused
}

// mismatchOf returns what a thinking parameter says shall happen to thinking that is bound to another conversation,
// empty when it does not say.
func mismatchOf(thinking []byte) string {
	if len(thinking) == 0 || thinking[0] != '{' {
		return ""
	}
	binding := jsonspan.Member(thinking, 0, "block_binding")
	if binding.IsZero() || thinking[binding.Start] != '{' {
		return ""
	}
	control := binding.Of(thinking)
	if v := jsonspan.Member(control, 0, "prefix_mismatch_behavior"); !v.IsZero() && control[v.Start] == '"' {
		return jsonspan.Unquote(v.Of(control))
	}
	return ""
}
