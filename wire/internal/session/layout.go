package session

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// A sessionLayout is the layout of a session file.
//
// A view that leaves out nothing that the model still saw, and adds no message, is written by
// editing lines where they stand. Any other makes a new file of the lines that hold what stays, what
// the client needs to go on from there, and the lines of Decant's own that its kind of session has for
// a compaction. Lines that are left out are not lost: they are in the source.
type sessionLayout struct {
	client   client
	records  []source.Record
	recordOf []int // for each item the index of its record
	items    []render.Item
	spans    [][]source.BlockSpan // of each message, where its blocks stand
}

// A client knows how one agent program writes down a conversation that was compacted.
type client interface {
	dialect() render.Dialect
	// edits reports whether lines may change where they stand.
	edits() bool
	// rewrite returns a session file with the messages of the writer's view.
	rewrite(w *writer) []byte
}

// Render writes a view of a session.
func (l *sessionLayout) Render(src []byte, conv, view *decant.Conversation) ([]byte, error) {
	if source.Unchanged(conv, view) {
		return src, nil
	}
	w := &writer{
		Editor:  &render.Editor{Src: src, Items: l.items, Spans: l.spans, Conv: conv, View: view, Dialect: l.client.dialect()},
		records: l.records, recordOf: l.recordOf, held: make([][]int, len(l.records)), out: output{lineBreak: lineBreak(src)},
	}
	for i, rec := range l.recordOf {
		w.held[rec] = append(w.held[rec], i)
	}
	if err := w.plan(); err != nil {
		return nil, err
	}
	if w.inPlace() && (len(w.Edits) == 0 || l.client.edits()) { // what did not change stays as it came, mended or not
		return source.Splice(src, w.Edits), nil
	}
	slices.SortStableFunc(w.Edits, func(a, b source.Edit) int { return a.At.Start - b.At.Start })
	w.point = w.checkpoint()
	return l.client.rewrite(w), nil
}
