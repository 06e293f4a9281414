package session

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/render"
	"github.com/decantdev/decant/wire/internal/source"
)

// A session is what the parsers of session files share: lines, and the items that they hold. An item is an object of
// the source that holds a message or a part of one: a record, or an element of a list in a record.
type session struct {
	*source.Lines
	items    []render.Item
	recordOf []int // for each item the index of its record
}

// openSession returns a session over src, which an agent program wrote.
func openSession(src []byte, agent string) (*session, error) {
	l, err := source.OpenLines(src, agent)
	if err != nil {
		return nil, err
	}
	return &session{Lines: l}, nil
}

// close ends the reading.
func (s *session) close(c client) *source.Document {
	l := &sessionLayout{client: c, records: s.Records, recordOf: s.recordOf, items: s.items}
	d := s.Document(l)
	l.spans = s.Spans
	slices.SortStableFunc(d.Warnings, func(a, b source.Warning) int { return cmp.Compare(a.Offset, b.Offset) })
	return d
}

// holdFixed notes that the object at v, in record rec, belongs to the fixed part, and returns the index of the item.
func (s *session) holdFixed(rec int, v jsonspan.Span) int {
	s.items = append(s.items, render.Item{Span: v})
	s.recordOf = append(s.recordOf, rec)
	return len(s.items) - 1
}

// hold notes that the object at v, in record rec, holds a part of the message under construction, with
// the value of its content member, and returns the index of the item.
func (s *session) hold(rec int, v, content jsonspan.Span) int {
	s.items = append(s.items, render.Item{Span: v, Owner: len(s.Conv.Messages), Content: content})
	s.recordOf = append(s.recordOf, rec)
	return len(s.items) - 1
}
