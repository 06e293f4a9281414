package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// ErrReadOnly means that a format is read and not written: what holds it is an export or a log, from
// which no program goes on.
var ErrReadOnly = errors.New("the format is read and not written")

// foreign is the layout of a format that is not written.
type foreign struct{}

func (foreign) render(d *Document, view *decant.Conversation) ([]byte, error) {
	if unchanged(d.Conversation, view) {
		return d.Source, nil
	}
	return nil, ErrReadOnly
}

// single returns a session over one JSON value, as [openSession] does over lines.
func single(src []byte, agent string) (*session, error) {
	src = bytes.TrimPrefix(src, byteOrderMark)
	if err := jsonspan.Validate(src); err != nil {
		return nil, invalid(src, err)
	}
	s := &session{builder: newBuilder(src)}
	s.conv.Agent = agent
	return s, nil
}

// foreign ends the reading of a format that is not written.
func (s *session) foreign(f Format) (*Document, error) {
	s.conv.Fixed.Version = version(&s.conv.Fixed)
	d := s.document(f, foreign{})
	if len(d.Conversation.Messages) == 0 {
		return nil, fmt.Errorf("there is no message in it: %w", ErrFormat)
	}
	return d, nil
}

// put adds a block whose text is the value at v: a string, or any value as it is written. It adds
// nothing when there is none.
func (s *session) put(b decant.Block, v jsonspan.Span) {
	if s.blank(v) {
		return
	}
	f := formText
	if s.src[v.Start] != '"' && b.Kind == decant.KindUse {
		f = formRaw
	}
	b.Content = s.builder.content(v, f)
	s.add(b, site{span: v, text: v, form: f})
}

// blank reports whether there is no text at v.
func (s *session) blank(v jsonspan.Span) bool {
	raw := v.Of(s.src)
	return isNull(raw) || string(raw) == `""` || string(raw) == "[]"
}

// instruct makes the text at v the system prompt.
func (s *session) instruct(v jsonspan.Span) {
	if !s.blank(v) {
		s.conv.Fixed.System = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: s.text(v)}}
	}
}

// outer returns the first JSON value of src.
func outer(src []byte) jsonspan.Span {
	sc := jsonspan.Scan(src, 0)
	return sc.Skip()
}

// dialog returns a session over src, and the list under a name in its first object, or the list that src
// itself is. A file may hold more conversations, as a list of objects or one a line: only the first is
// read.
func dialog(src []byte, agent, name string) (*session, jsonspan.Span, error) {
	s, err := single(src, agent)
	if err != nil {
		if s, err = openSession(src, agent); err != nil {
			return nil, jsonspan.Span{}, err
		}
	}
	first, more := outer(s.src), 0
	if len(s.records) > 0 {
		first, more = s.records[0].at, len(s.records)-1
	}
	if all := s.list(first); len(all) > 0 {
		if s.find(all[0], name).IsZero() {
			return s, first, nil
		}
		first, more = all[0], len(all)-1
	}
	if more > 0 {
		s.warnings = append(s.warnings, Warning{Offset: first.End, Text: fmt.Sprintf("the file holds %d conversations: only the first is read", more+1)})
	}
	return s, s.find(first, name), nil
}
