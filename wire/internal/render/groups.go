package render

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/source"
)

// An entry is a block of a view's message, with the place that it keeps in the source; nil: it is new there.
type entry struct {
	block *decant.Block
	at    *source.BlockSpan
}

// groups returns the blocks of a view's message by the item of the source that they belong to. A block
// that is new goes with the one before it, or else with the first that is not new, unless that one
// fills its item: then it makes a group of its own.
func (e *Editor) groups(m *decant.Message) [][]entry {
	var out [][]entry
	var last *source.BlockSpan // of the newest block that is not new
	for i := range m.Blocks {
		b := &m.Blocks[i]
		s := e.inPlace(m, b, last)
		if len(out) == 0 || beginsGroup(out[len(out)-1], s, last) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], entry{b, s})
		if s != nil {
			last = s
		}
	}
	return out
}

// beginsGroup reports whether a block at s, nil for a new one, begins a group of its own behind a group whose
// newest block of the source is at last.
func beginsGroup(group []entry, s, last *source.BlockSpan) bool {
	if s == nil {
		return last != nil && last.Kind == source.WholeItem && group[len(group)-1].at != nil
	}
	return s.Kind == source.WholeItem || last != nil && s.Item != last.Item
}

// inPlace returns where a block stands that is still in its place: in its own message, of its own kind, and
// behind the block at last.
func (e *Editor) inPlace(m *decant.Message, b *decant.Block, last *source.BlockSpan) *source.BlockSpan {
	s := e.Origin(b)
	if s == nil || b.Ref.Message != m.Number {
		return nil
	}
	if spans := e.Spans[m.Number-1]; last != nil && slices.Index(spans, *last) >= b.Ref.Block {
		return nil
	}
	return s
}

// itemOf returns the item of the source that a group belongs to, and false when all of its blocks are new.
func itemOf(group []entry) (at int, ok bool) {
	k := slices.IndexFunc(group, func(e entry) bool { return e.at != nil })
	if k < 0 {
		return 0, false
	}
	return group[k].at.Item, true
}
