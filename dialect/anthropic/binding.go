package anthropic

import "github.com/decantdev/decant/internal/jsonspan"

// BindingBeta permits thinking.block_binding in a request (docs/reference/anthropic.md, "Bound thinking").
const BindingBeta = "thinking-binding-controls-2026-08-01"

// DropBlock returns the thinking parameter of a body with the instruction to drop thinking that is
// bound to another conversation. It returns false when the request has no such parameter, or says
// itself what shall happen.
func DropBlock(body []byte) ([]byte, bool) {
	at := jsonspan.Member(body, 0, "thinking")
	if at.IsZero() || body[at.Start] != '{' {
		return nil, false
	}
	sc := jsonspan.Scan(body, at.Start)
	n := 0
	for sc.Open(); sc.Next(); n++ {
		if string(sc.Name()) == "block_binding" {
			return nil, false
		}
		sc.Skip()
	}
	if n == 0 {
		return nil, false
	}
	value := at.Of(body)
	out := append([]byte(nil), value[:len(value)-1]...)
	return append(out, `,"block_binding":{"prefix_mismatch_behavior":"drop_block"}}`...), true
}

// WithThinking returns body with another thinking parameter.
func WithThinking(body, params []byte) []byte {
	at := jsonspan.Member(body, 0, "thinking")
	if at.IsZero() {
		return body
	}
	out := make([]byte, 0, len(body)+len(params))
	out = append(append(out, body[:at.Start]...), params...)
	return append(out, body[at.End:]...)
}

// MismatchOf returns what a thinking parameter says shall happen to thinking that is bound to another conversation,
// empty when it does not say.
func MismatchOf(thinking []byte) string {
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
