package sandbox

import (
	"slices"
	"strconv"

	"github.com/decantdev/decant/internal/jsonspan"
)

// Two requests are the same to the server when they differ in nothing but cache markers, white
// space, escapes, the order of keys, members that are null or say the default, and whether a text is
// a string or a list of one block. A canon writes blocks without those differences, so that equal
// blocks have equal bytes. The cache is stricter than signatures are: what it stores is the prompt's
// text, in which the keys of arguments and schemas stand in the order of the request.
type canon struct {
	keepOrder bool     // of keys inside a block's values
	skip      []string // further members of blocks that make no difference
}

// block appends the canonical form of b to dst.
func (c canon) block(dst []byte, b *node) []byte {
	dst = append(dst, '{')
	for _, i := range sortedMembers(b) {
		name, v := b.names[i], b.items[i]
		if says := v.kind; name == "cache_control" || slices.Contains(c.skip, name) || c.plain(name, v) || says == 'n' || says == 'f' || says == '[' && len(v.items) == 0 {
			continue
		}
		dst = append(jsonspan.AppendQuote(dst, name), ':')
		if name == "content" || name == "output" && c.skip != nil {
			dst = c.content(dst, v)
		} else {
			dst = c.value(dst, v)
		}
		dst = append(dst, ',')
	}
	return append(dst, '}')
}

// plain reports whether a member says that something is a text or a message, which items of the Responses API can
// leave out.
func (c canon) plain(name string, v *node) bool {
	return c.skip != nil && name == "type" && slices.Contains([]string{"message", "text", "input_text", "output_text"}, v.text)
}

// content writes the content of a result or a document, in either form.
func (c canon) content(dst []byte, content *node) []byte {
	if content.kind == '{' {
		return c.value(dst, content)
	}
	dst = append(dst, '[')
	for _, b := range content.blocks() {
		if b.kind == '{' {
			dst = append(c.block(dst, b), ',')
		} else {
			dst = append(c.value(dst, b), ',')
		}
	}
	return append(dst, ']')
}

// value writes any value.
func (c canon) value(dst []byte, n *node) []byte {
	switch n.kind {
	case '"':
		return jsonspan.AppendQuote(dst, n.text)
	case '0':
		if f, ok := n.number(); ok {
			return strconv.AppendFloat(dst, f, 'g', -1, 64)
		}
		return append(dst, n.raw...)
	case '[':
		dst = append(dst, '[')
		for _, v := range n.items {
			dst = append(c.value(dst, v), ',')
		}
		return append(dst, ']')
	case '{':
		dst = append(dst, '{')
		for _, i := range c.members(n) {
			dst = append(jsonspan.AppendQuote(dst, n.names[i]), ':')
			dst = append(c.value(dst, n.items[i]), ',')
		}
		return append(dst, '}')
	}
	return append(dst, n.raw...)
}

// members returns the indexes of an object's members in the order in which they are written.
func (c canon) members(n *node) []int {
	out := sortedMembers(n)
	if c.keepOrder {
		slices.Sort(out)
	}
	return out
}

// sortedMembers returns the indexes of an object's members in the order of their names.
func sortedMembers(n *node) []int {
	out := make([]int, len(n.names))
	for i := range out {
		out[i] = i
	}
	slices.SortFunc(out, func(a, b int) int {
		if n.names[a] < n.names[b] {
			return -1
		}
		return 1
	})
	return out
}
