package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A placed block is one that is not yet added to its message.
type placed struct {
	block decant.Block
	at    blockSpan
}

// nextPart consumes an element of a content list, of this API or of the Responses API.
func nextPart(b *builder, sc *jsonspan.Scanner) placed {
	part := readPart(sc, b.src)
	s := blockSpan{span: part.span, kind: listPart}
	switch {
	case part.isText() && !part.text.IsZero():
		s.text = part.text
		return placed{decant.Block{Kind: decant.KindText, Content: b.text(part.text)}, s}
	case part.isMedia():
		return placed{decant.Block{Kind: decant.KindImage, Media: part.media(b.src)}, s}
	}
	s.text, s.form = s.span, formRaw
	return placed{decant.Block{Kind: decant.KindOpaque, Content: b.contentAt(s)}, s}
}
