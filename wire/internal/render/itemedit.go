package render

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// An itemEdit turns one item of the source into what a view's message has in its place.
type itemEdit struct {
	*Editor
	message *decant.Message
	at      int     // index of the item
	entries []entry // those blocks of the message that belong to the item, and new ones among them
}

// run makes the edits. It reports false when the item has no place for one of the blocks.
func (e *itemEdit) run() (bool, error) {
	for _, n := range e.entries {
		if n.at == nil || n.at.Kind == source.BareString {
			continue // part of the content as a whole
		}
		edits, err := e.block(n.at, n.block)
		if err != nil {
			return false, err
		}
		e.Edits = append(e.Edits, edits...)
	}
	ok, err := e.editContent()
	if err != nil || !ok {
		return false, err
	}
	e.editMembers()
	return true, nil
}

// A contentPlan is what the content of an item shall become.
type contentPlan struct {
	elems  []jsonspan.Span // the parts that it has in the source
	pieces []source.Piece  // the parts that it shall have
	parts  [][]byte        // the same written out, where it becomes a list
	whole  *entry          // the block that is all of it in the source
	fresh  bool            // there are new parts
}

// editContent edits the content of the item: the blocks that are its parts, and the new ones.
func (e *itemEdit) editContent() (bool, error) {
	content := e.Items[e.at].Content
	c, ok := e.plan(content)
	switch {
	case !ok, c.fresh && content.IsZero():
		return false, nil
	case c.whole != nil && !c.fresh:
		edits, err := e.block(c.whole.at, c.whole.block)
		e.Edits = append(e.Edits, edits...)
		return true, err
	case c.fresh && len(c.elems) == 0:
		e.Edits = append(e.Edits, source.Edit{At: content, Text: source.List(c.parts)})
	case len(c.pieces) > 0:
		e.Edits = append(e.Edits, source.Rejoin(e.Src, content, c.elems, c.pieces)...)
	case e.had(source.ListPart) || e.had(source.BareString):
		e.Edits = append(e.Edits, source.Edit{At: content, Text: []byte("null")})
	}
	return true, nil
}

// plan sorts the blocks into the parts of the content. It reports false when one has no place there.
func (e *itemEdit) plan(content jsonspan.Span) (contentPlan, bool) {
	var c contentPlan
	if !content.IsZero() && e.Src[content.Start] == '[' {
		c.elems = source.Elements(e.Src, content)
	}
	for i := range e.entries {
		n := &e.entries[i]
		switch {
		case n.at == nil:
			text := e.newPart(n.block)
			if text == nil {
				return c, false
			}
			c.fresh = true
			c.pieces, c.parts = append(c.pieces, source.Piece{Text: text}), append(c.parts, text)
		case n.at.Kind == source.ListPart:
			c.pieces = append(c.pieces, source.Piece{Elem: slices.Index(c.elems, n.at.Span)})
		case n.at.Kind == source.BareString:
			c.whole = n
			c.parts = append(c.parts, e.Dialect.Part(n.block, e.message.Role))
		}
	}
	return c, true
}

// newPart returns a block as a new element of a content list, nil when it does not go there.
func (e *itemEdit) newPart(b *decant.Block) []byte {
	if text := e.Copied(b); text != nil {
		return text
	}
	return e.Dialect.Part(b, e.message.Role)
}

// had reports whether the item has a block in such a place in the source.
func (e *itemEdit) had(k source.SpanKind) bool {
	return slices.ContainsFunc(e.Spans[e.message.Number-1], func(x source.BlockSpan) bool { return x.Item == e.at && x.Kind == k })
}

// keeps reports whether one of the blocks stands at s.
func (e *itemEdit) keeps(s jsonspan.Span) bool {
	return slices.ContainsFunc(e.entries, func(n entry) bool { return n.at != nil && n.at.Span == s })
}

// editMembers edits what the item holds besides its content: the list of calls, and members that are a
// block each. A list without calls is refused by the API, so it goes with its last call.
func (e *itemEdit) editMembers() {
	it := &e.Items[e.at]
	var gone []string
	for _, s := range e.Spans[e.message.Number-1] {
		if s.Item == e.at && s.Kind == source.MemberValue && !e.keeps(s.Span) {
			gone = append(gone, source.MemberName(e.Src, it.Span, s.Span))
		}
	}
	if e.had(source.ListedCall) {
		elems := source.Elements(e.Src, it.Calls)
		var pieces []source.Piece
		for i, c := range elems {
			if e.keeps(c) {
				pieces = append(pieces, source.Piece{Elem: i})
			}
		}
		if len(pieces) > 0 {
			e.Edits = append(e.Edits, source.Rejoin(e.Src, it.Calls, elems, pieces)...)
		} else {
			gone = append(gone, source.MemberName(e.Src, it.Span, it.Calls))
		}
	}
	if len(gone) > 0 {
		e.Edits = append(e.Edits, source.Without(e.Src, it.Span, gone...)...)
	}
}
