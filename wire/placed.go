package wire

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
)

// A placed block is one that is not yet added to its message.
type placed struct {
	block decant.Block
	at    blockSpan
}

// nextPart consumes an element of a content list, of this API or of the Responses API.
func nextPart(b *builder, sc *jsonspan.Scanner) placed {
	part := contents.NextPart(sc, b.src)
	s := blockSpan{span: part.Span, kind: listPart}
	switch {
	case part.IsText() && !part.Text.IsZero():
		s.text = part.Text
		return placed{decant.Block{Kind: decant.KindText, Content: b.text(part.Text)}, s}
	case part.IsMedia():
		return placed{decant.Block{Kind: decant.KindImage, Media: part.Media(b.src)}, s}
	}
	s.text, s.form = s.span, contents.FormRaw
	return placed{decant.Block{Kind: decant.KindOpaque, Content: b.contentAt(s)}, s}
}
