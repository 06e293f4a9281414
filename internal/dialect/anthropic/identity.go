package anthropic

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// Identity implements dialect.Requests: it is equal for two content blocks that differ only in cache markers, in a text
// being a string or a list of one block, in spacing, escapes, the order of keys, and members that are null.
func (Dialect) Identity(raw []byte) decant.Hash {
	c := canon{src: raw, out: make([]byte, 0, len(raw)+16)}
	sc := jsonspan.Scan(raw, 0)
	c.block(&sc)
	return decant.HashBytes(c.out)
}

// canon writes the canonical form of src to out. It is not JSON: every member and every element
// ends with a comma.
type canon struct {
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

// content writes the content of a result: a list of blocks, or a string in its place.
func (c *canon) content(sc *jsonspan.Scanner) {
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

// object writes the members in the order of their names. Of a block, which may carry a cache
// marker and content, the marker is left out.
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
		if i+1 < len(ms) && bytes.Equal(ms[i+1].name, m.name) || c.empty(m.value) || block && string(m.name) == "cache_control" {
			continue // of a repeated name the last value counts
		}
		c.out = append(jsonspan.AppendQuote(c.out, string(m.name)), ':')
		at := jsonspan.Scan(c.src, m.value.Start)
		if block && string(m.name) == "content" {
			c.content(&at)
		} else {
			c.value(&at)
		}
		c.out = append(c.out, ',')
	}
	c.out = append(c.out, '}')
	c.leave()
}

func (c *canon) empty(s jsonspan.Span) bool { return string(s.Of(c.src)) == "null" }
