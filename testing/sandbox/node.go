package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A node is one value of a request body with its members in the order in which they were sent.
// A nil node is a value that is not there; its methods answer accordingly.
type node struct {
	kind  jsontext.Kind
	raw   jsontext.Value // as sent; nil for a node that was made here
	text  string         // decoded, of a string
	names []string       // of an object's members
	items []*node        // members or elements
}

// parse reads a body strictly: one JSON value, no duplicate names, valid UTF-8.
func parse(src []byte) (*node, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(src))
	n, err := readNode(d, src)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("offset %d: more bytes after the value", d.InputOffset())
	}
	return n, nil
}

func readNode(d *jsontext.Decoder, src []byte) (*node, error) {
	n := &node{kind: d.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		return n, n.readScalar(d)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	start := d.InputOffset() - 1
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		if n.kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.String())
		}
		item, err := readNode(d, src)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	n.raw = src[start:d.InputOffset()]
	return n, nil
}

func (n *node) readScalar(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	n.raw = raw.Clone()
	if n.kind != '"' {
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	n.text = string(text)
	return err
}

// textBlock returns the block that a plain string stands for.
func textBlock(text *node) *node {
	return &node{
		kind:  '{',
		names: []string{"type", "text"},
		items: []*node{{kind: '"', text: "text"}, text},
	}
}

// get returns the member with the given name, nil when there is none or it is null.
func (n *node) get(name string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	i := slices.Index(n.names, name)
	if i < 0 || n.items[i].kind == 'n' {
		return nil
	}
	return n.items[i]
}

// str returns the text of a string member, "" when there is none.
func (n *node) str(name string) string {
	if v := n.get(name); v != nil {
		return v.text
	}
	return ""
}

// is reports whether the member is true.
func (n *node) is(name string) bool {
	v := n.get(name)
	return v != nil && v.kind == 't'
}

// list returns the elements of an array, nil for anything else.
func (n *node) list() []*node {
	if n == nil || n.kind != '[' {
		return nil
	}
	return n.items
}

// integer returns the value of a whole number.
func (n *node) integer() (int, bool) {
	if n == nil || n.kind != '0' {
		return 0, false
	}
	i, err := strconv.Atoi(string(n.raw))
	return i, err == nil
}

// number returns the value of a number.
func (n *node) number() (float64, bool) {
	if n == nil || n.kind != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n.raw), 64)
	return f, err == nil
}

// blocks returns content as blocks, whichever of its two forms it has.
func (n *node) blocks() []*node {
	if n != nil && n.kind == '"' {
		return []*node{textBlock(n)}
	}
	return n.list()
}
