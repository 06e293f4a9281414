package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/draft"
	"github.com/decantdev/decant/wire/internal/jsonedit"
)

// A body is the layout of a request body: one list of messages or items in one JSON object.
type body struct {
	to    dialect             // of its API
	list  jsonspan.Span       // the list
	bare  bool                // list is a string instead, which is the one item (Responses)
	items []item              // its elements, in order
	spans [][]draft.BlockSpan // of each message, where its blocks stand
}

// Render writes a view of a request body by editing its list of messages.
func (b *body) Render(src []byte, conv, view *decant.Conversation) ([]byte, error) {
	e := editor{src: src, items: b.items, spans: b.spans, conv: conv, view: view, to: b.to}
	if e.unchanged() {
		return src, nil
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	e.view = adoptMarker(conv, view)
	var elems []jsonedit.Piece // the items as they shall be
	for i := range b.items {
		if b.items[i].owner == 0 {
			elems = append(elems, jsonedit.Piece{Elem: i})
		}
	}
	for i := range e.view.Messages {
		more, err := b.message(&e, &e.view.Messages[i])
		if err != nil {
			return nil, err
		}
		elems = append(elems, more...)
	}
	return jsonedit.Splice(src, b.relist(&e, elems)), nil
}

// message returns the items of one message of the view.
func (b *body) message(e *editor, m *decant.Message) ([]jsonedit.Piece, error) {
	if m.Number == 0 {
		return e.anew(m), nil
	}
	if e.untouched(m) {
		return e.itemsOf(m), nil
	}
	elems, ok, err := e.keep(m)
	if err != nil || ok {
		return elems, err
	}
	return e.anew(m), nil
}

// relist returns all edits: those within items, and those that make a list of the given items.
func (b *body) relist(e *editor, elems []jsonedit.Piece) []jsonedit.Edit {
	switch {
	case !b.bare:
		spans := make([]jsonspan.Span, len(b.items))
		for i := range b.items {
			spans[i] = b.items[i].span
		}
		return append(e.edits, jsonedit.Rejoin(e.src, b.list, spans, elems)...)
	case len(elems) == 1 && elems[0].Text == nil:
		return e.edits // the one text stays
	}
	return []jsonedit.Edit{{At: b.list, Text: jsonedit.List(b.texts(e, elems))}}
}

// texts returns all items written out, for a body whose list was a bare string.
func (b *body) texts(e *editor, elems []jsonedit.Piece) [][]byte {
	var out [][]byte
	for _, p := range elems {
		if p.Text != nil {
			out = append(out, p.Text)
			continue
		}
		for i := range e.view.Messages {
			if m := &e.view.Messages[i]; m.Number > 0 {
				out = append(out, e.to.items(m, e.copied)...)
			}
		}
	}
	return out
}
