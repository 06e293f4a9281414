package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A form is how the text of a block is written in the source.
type form uint8

const (
	formText form = iota // a JSON string, or a list of parts of which some hold text, or null
	formRaw              // any JSON value; the text is its source
)

// lazy is content that stays in the source until somebody reads it.
type lazy struct {
	raw  []byte // the JSON value
	form form
}

func newLazy(raw []byte, f form) lazy { return lazy{raw, f} }

// Text decodes the content.
func (l *lazy) Text() string {
	switch {
	case l.form == formRaw || len(l.raw) == 0:
		return string(l.raw)
	case l.raw[0] == '"':
		return jsonspan.Unquote(l.raw)
	}
	return partsText(l.raw)
}

// Size returns the length of the content as it stands in the source, quotes left out.
func (l *lazy) Size() int {
	if len(l.raw) > 1 && l.raw[0] == '"' && l.form == formText {
		return len(l.raw) - 2
	}
	return len(l.raw)
}

var _ decant.Holder = (*lazy)(nil)

// Held returns the images and documents in the content as blocks of their own.
func (l *lazy) Held() (out []decant.Block) {
	if l.form == formRaw || len(l.raw) == 0 || l.raw[0] != '[' {
		return nil
	}
	sc := jsonspan.Scan(l.raw, 0)
	for sc.Open(); sc.Next(); {
		p := readPart(&sc, l.raw)
		if !p.isMedia() {
			continue
		}
		out = append(out, decant.Block{
			Kind: decant.KindImage, Author: decant.AuthorTool, Media: p.media(l.raw), Content: &heldPart{p.span.Of(l.raw)},
		})
	}
	return out
}
