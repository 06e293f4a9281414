package source

import (
	"strings"

	"github.com/decantdev/decant/internal/jsonspan"
)

// An Object writes a JSON object member by member.
type Object struct{ out []byte }

// Reopened returns the object that is written as raw, so that members can be added to it. Raw has one at least.
func Reopened(raw []byte) *Object { return &Object{raw[:len(raw)-1]} }

// member begins a member.
func (o *Object) member(name string) {
	if len(o.out) == 0 {
		o.out = append(o.out, '{')
	} else {
		o.out = append(o.out, ',')
	}
	o.out = append(jsonspan.AppendQuote(o.out, name), ':')
}

// Str adds a member that is a string.
func (o *Object) Str(name, value string) *Object {
	o.member(name)
	o.out = jsonspan.AppendQuote(o.out, value)
	return o
}

// Raw adds a member that is written already.
func (o *Object) Raw(name string, value []byte) *Object {
	o.member(name)
	o.out = append(o.out, value...)
	return o
}

// Given adds a member unless its value is empty.
func (o *Object) Given(name, value string) *Object {
	if value != "" {
		o.Str(name, value)
	}
	return o
}

// End returns the object, closed.
func (o *Object) End() []byte {
	if len(o.out) == 0 {
		return []byte("{}")
	}
	return append(o.out, '}')
}

// List returns a JSON array of the given elements.
func List(elems [][]byte) []byte {
	out := []byte{'['}
	for i, e := range elems {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

// Quote returns s as a JSON string.
func Quote(s string) []byte { return jsonspan.AppendQuote(nil, s) }

// AsObject returns text when it is a JSON object, and otherwise an object that holds it as its input.
func AsObject(text string) []byte {
	raw := []byte(text)
	if sc := jsonspan.Scan(raw, 0); sc.Kind() == '{' && jsonspan.Validate(raw) == nil {
		return raw
	}
	if strings.TrimSpace(text) == "" {
		return []byte("{}")
	}
	return new(Object).Str("input", text).End()
}
