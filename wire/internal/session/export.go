package session

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// errReadOnly means that a format is read and not written: it is of exports and logs, from which no program resumes.
var errReadOnly = errors.New("the format is read and not written")

// readOnly is the layout of a format that is not written.
type readOnly struct{}

// Render returns src when the view says nothing else, and errReadOnly otherwise.
func (readOnly) Render(src []byte, conv, view *decant.Conversation) ([]byte, error) {
	if source.Unchanged(conv, view) {
		return src, nil
	}
	return nil, errReadOnly
}

// An export is what the parsers of formats that are not written share: the lines of a file, or one JSON value.
type export struct{ *source.Lines }

// openValue returns an export over one JSON value, which an agent program wrote.
func openValue(src []byte, agent string) (*export, error) {
	src, err := source.Valid(src)
	if err != nil {
		return nil, err
	}
	b := source.NewBuilder(src)
	b.Conv.Agent = agent
	return &export{&source.Lines{Builder: b}}, nil
}

// openLog returns an export over the lines of a file, which an agent program wrote.
func openLog(src []byte, agent string) (*export, error) {
	l, err := source.OpenLines(src, agent)
	if err != nil {
		return nil, err
	}
	return &export{l}, nil
}

// finished ends the reading.
func (s *export) finished() (*source.Document, error) {
	s.Conv.Fixed.Version = source.Version(&s.Conv.Fixed)
	d := s.Document(readOnly{})
	if len(d.Conversation.Messages) == 0 {
		return nil, fmt.Errorf("there is no message in it: %w", source.ErrFormat)
	}
	return d, nil
}

// put adds a block whose text is the value at v: a string, or any value as it is written. It adds
// nothing when there is none.
func (s *export) put(b decant.Block, v jsonspan.Span) {
	if s.blank(v) {
		return
	}
	f := source.FormText
	if s.Src[v.Start] != '"' && b.Kind == decant.KindUse {
		f = source.FormRaw
	}
	b.Content = s.Content(v, f)
	s.Add(b, source.BlockSpan{Span: v, Text: v, Form: f})
}

// blank reports whether there is no text at v.
func (s *export) blank(v jsonspan.Span) bool {
	raw := v.Of(s.Src)
	return source.IsNull(raw) || string(raw) == `""` || string(raw) == "[]"
}

// instruct makes the text at v the system prompt.
func (s *export) instruct(v jsonspan.Span) {
	if !s.blank(v) {
		s.Conv.Fixed.System = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: s.Text(v)}}
	}
}

// outer returns the first JSON value of src.
func outer(src []byte) jsonspan.Span {
	sc := jsonspan.Scan(src, 0)
	return sc.Skip()
}
