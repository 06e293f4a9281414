package wire

import (
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
)

// An object writes a JSON object member by member.
type object struct{ out []byte }

// reopened returns the object that is written as raw, so that members can be added to it. Raw has one at least.
func reopened(raw []byte) *object { return &object{raw[:len(raw)-1]} }

// member begins a member.
func (o *object) member(name string) {
	if len(o.out) == 0 {
		o.out = append(o.out, '{')
	} else {
		o.out = append(o.out, ',')
	}
	o.out = append(jsonspan.AppendQuote(o.out, name), ':')
}

// str adds a member that is a string.
func (o *object) str(name, value string) *object {
	o.member(name)
	o.out = jsonspan.AppendQuote(o.out, value)
	return o
}

// raw adds a member that is written already.
func (o *object) raw(name string, value []byte) *object {
	o.member(name)
	o.out = append(o.out, value...)
	return o
}

// given adds a member unless its value is empty.
func (o *object) given(name, value string) *object {
	if value != "" {
		o.str(name, value)
	}
	return o
}

// end returns the object, closed.
func (o *object) end() []byte {
	if len(o.out) == 0 {
		return []byte("{}")
	}
	return append(o.out, '}')
}

// list returns a JSON array of the given elements.
func list(elems [][]byte) []byte {
	out := []byte{'['}
	for i, e := range elems {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

// quoted returns s as a JSON string.
func quoted(s string) []byte { return jsonspan.AppendQuote(nil, s) }

// asObject returns text when it is a JSON object, and otherwise an object that holds it as its input.
func asObject(text string) []byte {
	raw := []byte(text)
	if sc := jsonspan.Scan(raw, 0); sc.Kind() == '{' && jsonspan.Validate(raw) == nil {
		return raw
	}
	if strings.TrimSpace(text) == "" {
		return []byte("{}")
	}
	return new(object).str("input", text).end()
}
