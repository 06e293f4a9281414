package engine

import "github.com/decantdev/decant/internal/jsonspan"

// bindingBeta permits thinking.block_binding in a request (anthropic-wire, section 11).
const bindingBeta = "thinking-binding-controls-2026-08-01"

// dropBlock returns the thinking parameter of a body with the instruction to drop thinking that is
// bound to another conversation. It returns false when the request has no such parameter, or says
// itself what shall happen.
func dropBlock(body []byte) ([]byte, bool) {
	at := topMember(body, "thinking")
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

// withThinking returns body with another thinking parameter.
func withThinking(body, params []byte) []byte {
	at := topMember(body, "thinking")
	if at.IsZero() {
		return body
	}
	out := make([]byte, 0, len(body)+len(params))
	out = append(append(out, body[:at.Start]...), params...)
	return append(out, body[at.End:]...)
}

// topMember returns where the value of a member of a JSON object stands, the last one of several;
// zero when there is none.
func topMember(body []byte, name string) jsonspan.Span { return jsonspan.Member(body, 0, name) }
