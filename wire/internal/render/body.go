package render

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// A Body is the layout of a request body: one list of messages or items in one JSON object.
type Body struct {
	Dialect Dialect              // of its API
	List    jsonspan.Span        // the list
	Bare    bool                 // list is a string instead, which is the one item (Responses)
	Items   []Item               // its elements, in order
	Spans   [][]source.BlockSpan // of each message, where its blocks stand
}

// Render writes a view of a request body by editing its list of messages.
func (b *Body) Render(src []byte, conv, view *decant.Conversation) ([]byte, error) {
	e := Editor{Src: src, Items: b.Items, Spans: b.Spans, Conv: conv, View: view, Dialect: b.Dialect}
	if e.unchanged() {
		return src, nil
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	e.View = adoptMarker(conv, view)
	var elems []source.Piece // the items as they shall be
	at := 0                  // the first item that has not had its turn
	first := FirstItems(b.Items)
	for i := range e.View.Messages {
		next := Next(first, len(b.Items), e.View.Messages[i:])
		elems, at = b.fixed(elems, at, next), max(at, next)
		var err error
		if elems, err = b.message(elems, &e, &e.View.Messages[i]); err != nil {
			return nil, err
		}
	}
	return source.Splice(src, b.relist(&e, b.fixed(elems, at, len(b.Items)))), nil
}

// fixed adds those of the items [from, to) that belong to the fixed part.
func (b *Body) fixed(elems []source.Piece, from, to int) []source.Piece {
	for i := from; i < to; i++ {
		if b.Items[i].Owner == 0 {
			elems = append(elems, source.Piece{Elem: i})
		}
	}
	return elems
}

// FirstItems returns the index of the first item of each message, by the message's number.
func FirstItems(items []Item) map[int]int {
	first := make(map[int]int, len(items))
	for i := range items {
		if _, known := first[items[i].Owner]; !known {
			first[items[i].Owner] = i
		}
	}
	return first
}

// Next returns the index of the first item of the first message in ms that comes from the source, and the number of items, n,
// if no message does. Items of the fixed part that come before that index come before a record that is among the messages,
// and before whatever the model seems to say there.
func Next(first map[int]int, n int, ms []decant.Message) int {
	if ms[0].Number == 0 && ms[0].Role != decant.RoleUser {
		return n
	}
	k := slices.IndexFunc(ms, func(m decant.Message) bool { return m.Number > 0 })
	if k < 0 {
		return n
	}
	return first[ms[k].Number] // a message without an item has nothing before it
}

// message adds the items of one message of the view.
func (b *Body) message(elems []source.Piece, e *Editor, m *decant.Message) ([]source.Piece, error) {
	if m.Number == 0 {
		return append(elems, e.anew(m)...), nil
	}
	if e.untouched(m) {
		return e.addItems(elems, m), nil
	}
	kept, ok, err := e.Keep(m)
	if err != nil || ok {
		return append(elems, kept...), err
	}
	return append(elems, e.anew(m)...), nil
}

// relist returns all edits: those within items, and those that make a list of the given items.
func (b *Body) relist(e *Editor, elems []source.Piece) []source.Edit {
	switch {
	case !b.Bare:
		spans := make([]jsonspan.Span, len(b.Items))
		for i := range b.Items {
			spans[i] = b.Items[i].Span
		}
		return append(e.Edits, source.Rejoin(e.Src, b.List, spans, elems)...)
	case len(elems) == 1 && elems[0].Text == nil:
		return e.Edits // the one text stays
	}
	return []source.Edit{{At: b.List, Text: source.List(b.texts(e, elems))}}
}

// texts returns all items written out, for a body whose list was a bare string.
func (b *Body) texts(e *Editor, elems []source.Piece) [][]byte {
	var out [][]byte
	for _, p := range elems {
		if p.Text != nil {
			out = append(out, p.Text)
			continue
		}
		for i := range e.View.Messages {
			if m := &e.View.Messages[i]; m.Number > 0 {
				out = append(out, e.Dialect.Items(m, e.Copied)...)
			}
		}
	}
	return out
}
