package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A member is where a member of a request stands.
type member struct {
	name  int // offset of the name
	value jsonspan.Span
}

// is reports whether the member has a name.
func (m *member) is(src []byte, name string) bool {
	sc := jsonspan.Scan(src, m.name)
	return string(sc.Name()) == name
}

// topMembers returns the members of the request in src, in order.
func topMembers(src []byte) []member {
	var out []member
	sc := jsonspan.Scan(src, 0)
	for sc.Open(); sc.Next(); {
		name := sc.Pos()
		sc.Name()
		out = append(out, member{name, sc.Skip()})
	}
	return out
}

// request returns the members of the request in src. Those of a request of the Messages API are known.
func (b *Body) request(src []byte) []member {
	if b.members != nil {
		return b.members
	}
	return topMembers(src)
}

// Member returns where in src the value of a member of the request stands, the last one of several; zero when
// there is no such member.
func (b *Body) Member(src []byte, name string) jsonspan.Span {
	ms := b.request(src)
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].is(src, name) {
			return ms[i].value
		}
	}
	return jsonspan.Span{}
}

// Parameters returns the request in src without what an API has for system prompt, tools and messages: a JSON object in
// the client's own bytes and order, without the space between them.
func (b *Body) Parameters(src []byte) []byte {
	out := []byte{'{'}
	for _, m := range b.request(src) {
		sc := jsonspan.Scan(src, m.name)
		name := string(sc.Name())
		switch name {
		case "system", "tools", "messages", "instructions", "input":
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonspan.AppendQuote(out, name), ':')
		out = append(out, m.value.Of(src)...)
	}
	return append(out, '}')
}

// Block returns the bytes in src of a block: "null" where a message has no content, nil when there is no such block.
func (b *Body) Block(src []byte, r decant.Ref) []byte {
	if r.Message < 1 || r.Message > len(b.Spans) {
		return nil
	}
	spans := b.Spans[r.Message-1]
	if r.Block < 0 || r.Block >= len(spans) {
		return nil
	}
	if s := spans[r.Block].Span; !s.IsZero() {
		return s.Of(src)
	}
	return []byte("null")
}
