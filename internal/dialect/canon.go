package dialect

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/jsonspan"
)

// Canonical returns the canonical form of a content block, by which identities are made: it is equal for two blocks
// that differ only in cache markers, in a text being a string or a list of one block, in spacing, escapes, the order of
// keys, and members that are null. It is not JSON.
func Canonical(raw []byte) []byte {
	c := canon{src: raw, out: make([]byte, 0, len(raw)+16)}
	sc := jsonspan.Scan(raw, 0)
	c.block(&sc)
	return c.out
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
	name  string
	value jsonspan.Span
}

// object writes the members in the order of their names. Of a block, which may carry a cache
// marker and content, the marker is left out.
func (c *canon) object(sc *jsonspan.Scanner, block bool) {
	c.enter(sc)
	var ms []member
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		ms = append(ms, member{name, c.skip(sc)})
	}
	slices.SortStableFunc(ms, func(a, b member) int { return strings.Compare(a.name, b.name) })
	c.out = append(c.out, '{')
	for i, m := range ms {
		if i+1 < len(ms) && ms[i+1].name == m.name || c.empty(m.value) || block && m.name == "cache_control" {
			continue // of a repeated name the last value counts
		}
		c.out = append(jsonspan.AppendQuote(c.out, m.name), ':')
		at := jsonspan.Scan(c.src, m.value.Start)
		if block && m.name == "content" {
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
