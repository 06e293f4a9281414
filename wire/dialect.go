package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A dialect writes pieces of conversation from scratch as one API wants them.
type dialect interface {
	// items returns the elements of the API's list that make up a message, nil when nothing of it
	// has a form there. Blocks that source knows are copied.
	items(m *decant.Message, source copier) [][]byte
	// part returns an element of the content list of a message of the given role; nil when such a
	// block does not go there.
	part(b *decant.Block, role decant.Role) []byte
	// arguments returns the value that holds a call's arguments.
	arguments(text string) []byte
}

// A copier returns the bytes of a block that comes from the source, nil when it does not. A nil
// copier knows no block.
type copier func(b *decant.Block) []byte

func (c copier) part(b *decant.Block) []byte {
	if c == nil {
		return nil
	}
	return c(b)
}

// dialectOf returns the dialect of a request format.
func dialectOf(f Format) dialect {
	switch f {
	case OpenAIChat:
		return chatDialect{}
	case OpenAIResponses:
		return responsesDialect{}
	}
	return anthropicDialect{}
}

// An object writes a JSON object member by member.
type object struct{ out []byte }

// member begins a member.
func (o *object) member(name string) {
	if len(o.out) == 0 {
		o.out = append(o.out, '{')
	} else {
		o.out = append(o.out, ',')
	}
	o.out = append(jsonspan.AppendQuote(o.out, name), ':')
}

func (o *object) str(name, value string) *object {
	o.member(name)
	o.out = jsonspan.AppendQuote(o.out, value)
	return o
}

func (o *object) raw(name string, value []byte) *object {
	o.member(name)
	o.out = append(o.out, value...)
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
	if isBlank(text) {
		return []byte("{}")
	}
	return new(object).str("input", text).end()
}
