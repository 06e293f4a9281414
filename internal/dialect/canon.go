package dialect

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// An Identifier makes the identities of an API's blocks, see [Requests.Identity]. What it makes is stored, so none of
// its fields may change once an API has it.
type Identifier struct {
	API     string            // what tells its identities from those of other APIs; empty for the first API that there was
	Ignored map[string]bool   // members of a block that say nothing to the model
	Nested  map[string]bool   // members of a block that hold blocks, or a text in the place of one
	Types   map[string]string // types of blocks that say the same as another type
}

// Identity returns the identity of a block. It is equal for two blocks that differ only in members which are ignored or
// null, in a text being a string or a block, in spacing, escapes and the order of keys.
func (d *Identifier) Identity(raw []byte) decant.Hash {
	c := canon{Identifier: d, src: raw, out: append(make([]byte, 0, len(raw)+len(d.API)+16), d.API...)}
	sc := jsonspan.Scan(raw, 0)
	c.block(&sc)
	return decant.HashBytes(c.out)
}

// canon writes the canonical form of src to out. It is not JSON: every member and every element
// ends with a comma.
type canon struct {
	*Identifier
	src, out []byte
	depth    int             // objects that are being written, one inside the other
	inside   []jsonspan.Span // places of the containers in a deeply nested object, nil outside of one
}

// block writes a content block; a bare string is a text block.
func (c *canon) block(sc *jsonspan.Scanner) {
	switch sc.Kind() {
	case '"':
		c.out = append(c.out, `{"text":`...)
		c.scalar(sc.Skip())
		c.out = append(c.out, `,"type":"text",}`...)
	case '{':
		c.object(sc, true)
	default:
		c.value(sc)
	}
}

// blocks writes a list of blocks, or a string in its place.
func (c *canon) blocks(sc *jsonspan.Scanner) {
	if k := sc.Kind(); k != '[' && k != '"' {
		c.value(sc)
		return
	}
	c.out = append(c.out, '[')
	if sc.Kind() == '"' {
		c.block(sc)
		c.out = append(c.out, ',')
	} else {
		for sc.Open(); sc.Next(); {
			c.block(sc)
			c.out = append(c.out, ',')
		}
	}
	c.out = append(c.out, ']')
}

func (c *canon) value(sc *jsonspan.Scanner) {
	switch sc.Kind() {
	case '{':
		c.object(sc, false)
	case '[':
		c.out = append(c.out, '[')
		for sc.Open(); sc.Next(); {
			c.value(sc)
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, ']')
	default:
		c.scalar(sc.Skip())
	}
}

// scalar writes a string without needless escapes, and anything else unchanged.
func (c *canon) scalar(s jsonspan.Span) {
	raw := s.Of(c.src)
	if len(raw) > 0 && raw[0] == '"' && !plain(raw) {
		c.out = jsonspan.AppendQuote(c.out, jsonspan.Unquote(raw))
		return
	}
	c.out = append(c.out, raw...)
}

// plain reports whether a string is written as AppendQuote writes it: most are, and need not be
// decoded to find that out.
func plain(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			return true
		}
		switch raw[i+1] {
		case '"', '\\', 'n', 'r', 't':
		default:
			return false // the others have, or may have, another form
		}
		raw = raw[i+2:]
	}
}

// member is a member of an object: its name and the place of its value.
type member struct {
	name  []byte
	value jsonspan.Span
}

// object writes the members in the order of their names. Of a block, which may hold others, those are left out that
// say nothing.
func (c *canon) object(sc *jsonspan.Scanner, block bool) {
	c.enter(sc)
	var few [8]member // most objects have no more
	ms := few[:0]
	for sc.Open(); sc.Next(); {
		name := sc.Name()
		ms = append(ms, member{name, c.skip(sc)})
	}
	slices.SortStableFunc(ms, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	c.out = append(c.out, '{')
	for i, m := range ms {
		if i+1 < len(ms) && bytes.Equal(ms[i+1].name, m.name) || c.empty(m.value) || block && c.Ignored[string(m.name)] {
			continue // of a repeated name the last value counts
		}
		c.out = append(jsonspan.AppendQuote(c.out, string(m.name)), ':')
		at := jsonspan.Scan(c.src, m.value.Start)
		switch {
		case block && c.Nested[string(m.name)]:
			c.blocks(&at)
		case block && string(m.name) == "type" && at.Kind() == '"':
			kind := jsonspan.Unquote(m.value.Of(c.src))
			c.out = jsonspan.AppendQuote(c.out, cmp.Or(c.Types[kind], kind))
		default:
			c.value(&at)
		}
		c.out = append(c.out, ',')
	}
	c.out = append(c.out, '}')
	c.leave()
}

func (c *canon) empty(s jsonspan.Span) bool { return string(s.Of(c.src)) == "null" }

// The members of an object are found before they are written, in another order; so an object inside it is passed
// over once more for each object around it. For what people and models write that is the fastest way. What is
// nested deeper is looked through once, and from there on it is known where everything ends.

// deepFrom is how many objects, one inside the other, are written without that.
const deepFrom = 16

// enter notes that the object that comes next is being written.
func (c *canon) enter(sc *jsonspan.Scanner) {
	if c.depth++; c.depth == deepFrom {
		c.inside = jsonspan.Containers(c.src, sc.Pos())
	}
}

// leave notes that it is written.
func (c *canon) leave() {
	if c.depth == deepFrom {
		c.inside = nil
	}
	c.depth--
}

// skip consumes the next value and returns its place.
func (c *canon) skip(sc *jsonspan.Scanner) jsonspan.Span {
	at, kind := sc.Pos(), sc.Kind()
	if c.inside == nil || kind != '{' && kind != '[' {
		return sc.Skip()
	}
	i := sort.Search(len(c.inside), func(i int) bool { return c.inside[i].Start >= at })
	if i == len(c.inside) || c.inside[i].Start != at {
		return sc.Skip()
	}
	sc.Jump(c.inside[i].End)
	return c.inside[i]
}
