package wire

import (
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

// request returns the members of the request. Those of a request of the Messages API are known.
func (b *body) request(src []byte) []member {
	if b.members != nil {
		return b.members
	}
	return topMembers(src)
}

// Member returns where in Source the value of a member of the request stands, the last one of several:
// "system", "cache_control". It is zero when the request has no such member, and in a session file.
func (d *Document) Member(name string) jsonspan.Span {
	l, ok := d.layout.(*body)
	if !ok {
		return jsonspan.Span{}
	}
	return last(d.Source, l.request(d.Source), name)
}

// last returns the value of the last member with a name, zero when there is none.
func last(src []byte, ms []member, name string) jsonspan.Span {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].is(src, name) {
			return ms[i].value
		}
	}
	return jsonspan.Span{}
}

// Frame returns the request without system, tools and messages: a JSON object of the parameters, in the
// client's own bytes and order, without the space between them. It is nil for a session file.
func (d *Document) Frame() []byte {
	l, ok := d.layout.(*body)
	if !ok {
		return nil
	}
	out := []byte{'{'}
	for _, m := range l.request(d.Source) {
		sc := jsonspan.Scan(d.Source, m.name)
		name := string(sc.Name())
		switch name {
		case "system", "tools", "messages":
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonspan.AppendQuote(out, name), ':')
		out = append(out, m.value.Of(d.Source)...)
	}
	return append(out, '}')
}
