package render

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/source"
)

// An Editor collects the edits that turn the items of a source into those of a view.
type Editor struct {
	Src     []byte
	Items   []Item
	Spans   [][]source.BlockSpan // of each message, where its blocks stand
	Conv    *decant.Conversation // of the source
	View    *decant.Conversation
	Dialect Dialect       // in which new items are written
	Edits   []source.Edit // within items that stay
}

// Check returns an error unless the view's messages are messages of the source, in order, and
// messages of Decant's own.
func (e *Editor) Check() error {
	last := 0
	for i := range e.View.Messages {
		n := e.View.Messages[i].Number
		switch {
		case n == 0:
		case n < 0 || n > len(e.Conv.Messages):
			return fmt.Errorf("the view holds m%d, the source has %d messages", n, len(e.Conv.Messages))
		case n <= last:
			return fmt.Errorf("the view holds m%d after m%d", n, last)
		default:
			last = n
		}
	}
	return nil
}

// untouched reports whether the view's message has the very blocks of the source, which is so for most
// messages of most views.
func (e *Editor) untouched(m *decant.Message) bool {
	was := e.Conv.Messages[m.Number-1].Blocks
	return len(m.Blocks) == len(was) && len(was) > 0 && &m.Blocks[0] == &was[0]
}

// Keep edits the items of a message of the source as the view has it. It returns the items that stay and those that
// are new, in order, and false when the message's form has no place for a change: then the message has to be written
// anew.
func (e *Editor) Keep(m *decant.Message) ([]source.Piece, bool, error) {
	mark := len(e.Edits)
	var out []source.Piece
	for _, g := range e.groups(m) {
		at, ok := itemOf(g)
		if !ok {
			added := decant.Message{Role: m.Role}
			for _, n := range g {
				added.Blocks = append(added.Blocks, *n.block)
			}
			out = append(out, e.anew(&added)...)
			continue
		}
		out = append(out, source.Piece{Elem: at})
		ok, err := (&itemEdit{Editor: e, message: m, at: at, entries: g}).run()
		if err != nil {
			return nil, false, err
		}
		if !ok {
			e.Edits = e.Edits[:mark]
			return nil, false, nil
		}
	}
	return out, true, nil
}

// anew writes a message as new items.
func (e *Editor) anew(m *decant.Message) (out []source.Piece) {
	for _, it := range e.Dialect.Items(m, e.Copied) {
		out = append(out, source.Piece{Text: it})
	}
	return out
}

// Copied returns the source of a block that stands in a content list there, with the text that it has
// now, so that images and unknown members come along.
func (e *Editor) Copied(b *decant.Block) []byte {
	s := e.Origin(b)
	if s == nil || s.Kind != source.ListPart {
		return nil
	}
	edits, err := e.block(s, b)
	if err != nil {
		return nil
	}
	return source.SpliceWithin(e.Src, s.Span, edits)
}

// Origin returns where in the source a block comes from, nil when it does not.
func (e *Editor) Origin(b *decant.Block) *source.BlockSpan {
	n, k := b.Ref.Message, b.Ref.Block
	if n < 1 || n > len(e.Spans) || k < 0 || k >= len(e.Spans[n-1]) || e.Conv.Messages[n-1].Blocks[k].Kind != b.Kind {
		return nil
	}
	return &e.Spans[n-1][k]
}

// unchanged reports whether the view is the conversation itself.
func (e *Editor) unchanged() bool {
	if len(e.View.Messages) != len(e.Conv.Messages) {
		return false
	}
	for i := range e.View.Messages {
		if m := &e.View.Messages[i]; m.Number != i+1 || !e.untouched(m) {
			return false
		}
	}
	return true
}

// addItems adds the items of a message that stays as it is.
func (e *Editor) addItems(elems []source.Piece, m *decant.Message) []source.Piece {
	last := -1
	for _, s := range e.Spans[m.Number-1] {
		if s.Item != last {
			elems, last = append(elems, source.Piece{Elem: s.Item}), s.Item
		}
	}
	return elems
}
