package wire

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// A Document is a conversation together with the bytes that it was read from.
//
// The conversation's blocks refer to Source and decode it on demand; neither may be changed, nor the
// messages and blocks. A Document is safe for concurrent use.
type Document struct {
	Format       Format
	Source       []byte
	Conversation *decant.Conversation
	Warnings     []Warning // what was wrong with the source and left as it is, in source order
	Kept         int       // how many messages from the first on ParseNext found unchanged, byte for byte; else 0

	layout source.Layout
	api    Format // of a bare list of messages
}

// newDocument returns the document of what a parser has made of a source in format f.
func newDocument(f Format, p *source.Document) *Document {
	d := &Document{Format: f, Source: p.Source, Conversation: p.Conversation, Kept: p.Kept, layout: p.Layout}
	if f == Messages {
		d.api = messagesAPI(d.Source, 0)
	}
	for _, w := range p.Warnings {
		d.Warnings = append(d.Warnings, Warning{Offset: w.Offset, Line: w.Line, Text: w.Text})
	}
	return d
}

// API returns the format of the requests whose rules the messages of d follow.
func (d *Document) API() Format {
	switch d.Format {
	case Messages:
		return d.api
	case OpenAIChat, OpenAIResponses:
		return d.Format
	case Codex:
		return OpenAIResponses
	}
	return Anthropic
}

// A Warning is something in a source that is not as it should be and did not keep the rest from
// being read.
type Warning struct {
	Offset int    // in bytes, where it is
	Line   int    // of a session file, from 1; 0 in a request body
	Text   string // what is wrong and what was done about it
}

// String returns the warning for people, position first.
func (w Warning) String() string {
	if w.Line > 0 {
		return fmt.Sprintf("line %d: %s", w.Line, w.Text)
	}
	return fmt.Sprintf("offset %d: %s", w.Offset, w.Text)
}

// Render writes view, a view of d.Conversation, in the document's own format.
//
// Only what the view changed is written anew: replaced texts, dropped blocks and messages, and
// messages that Decant wrote (Number 0). Messages and blocks are recognised by Number and Ref.
// A view without changes returns d.Source itself; in any other all characters are whole, as after [Document.Sound]. The system prompt and the tools stay as they are,
// whatever the view says about them. Of a format that is not [Format.Writable] every other view is an
// error.
func (d *Document) Render(view *decant.Conversation) ([]byte, error) {
	out, err := d.layout.Render(d.Source, d.Conversation, view)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", d.Format, err)
	}
	if len(out) != len(d.Source) || len(out) > 0 && &out[0] != &d.Source[0] {
		out, _ = jsonspan.Sound(out)
	}
	return out, nil
}

// Sound returns a document of the same source in which all characters are whole, and how many had to be replaced by
// U+FFFD: halves of surrogate pairs, and bytes that are not UTF-8. APIs refuse a body with either. It returns d itself
// where there are none.
func (d *Document) Sound() (*Document, int, error) {
	src, n := jsonspan.Sound(d.Source)
	if n == 0 {
		return d, 0, nil
	}
	out, err := ParseAs(d.Format, src)
	return out, n, err
}
