package source

import (
	"bytes"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A Form is how the text of a block is written in the source.
type Form uint8

const (
	FormText Form = iota // a JSON string, or a list of parts of which some hold text, or null
	FormRaw              // any JSON value; the text is its source
)

// Lazy is content that stays in the source until somebody reads it.
type Lazy struct {
	raw  []byte // the JSON value
	form Form
}

// NewLazy returns the content of a JSON value.
func NewLazy(raw []byte, f Form) Lazy { return Lazy{raw, f} }

// Text decodes the content.
func (l *Lazy) Text() string {
	switch {
	case l.form == FormRaw || len(l.raw) == 0:
		return string(l.raw)
	case l.raw[0] == '"':
		return jsonspan.Unquote(l.raw)
	}
	return partsText(l.raw)
}

// MayHold reports whether the text may hold one of some strings: the source does, or it has escapes that may stand for a
// part of one.
func (l *Lazy) MayHold(strs ...string) bool {
	if l.form != FormRaw && (bytes.Contains(l.raw, []byte(`\u`)) || bytes.Contains(l.raw, []byte(`\/`))) {
		return len(strs) > 0
	}
	for _, s := range strs {
		if l.form != FormRaw && !verbatim(s) || bytes.Contains(l.raw, []byte(s)) {
			return true
		}
	}
	return false
}

// verbatim reports whether a string stands in JSON as it is, unless the source escapes what need not be.
func verbatim(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// Size returns the length of the content as it stands in the source, quotes left out.
func (l *Lazy) Size() int {
	if len(l.raw) > 1 && l.raw[0] == '"' && l.form == FormText {
		return len(l.raw) - 2
	}
	return len(l.raw)
}

var _ decant.Holder = (*Lazy)(nil)

// Held returns the images and documents in the content as blocks of their own.
func (l *Lazy) Held() (out []decant.Block) {
	if l.form == FormRaw || len(l.raw) == 0 || l.raw[0] != '[' {
		return nil
	}
	sc := jsonspan.Scan(l.raw, 0)
	for sc.Open(); sc.Next(); {
		p := NextPart(&sc, l.raw)
		if !p.IsMedia() {
			continue
		}
		out = append(out, decant.Block{
			Kind: decant.KindImage, Author: decant.AuthorTool, Media: p.Media(l.raw), Content: &heldPart{p.Span.Of(l.raw)},
		})
	}
	return out
}
