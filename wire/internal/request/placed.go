package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// A placed block is one that is not yet added to its message.
type placed struct {
	block decant.Block
	at    source.BlockSpan
}

// nextPart consumes an element of a content list, of this API or of the Responses API.
func nextPart(b *source.Builder, sc *jsonspan.Scanner) placed {
	part := source.NextPart(sc, b.Src)
	s := source.BlockSpan{Span: part.Span, Kind: source.ListPart}
	switch {
	case part.IsText() && !part.Text.IsZero():
		s.Text = part.Text
		return placed{decant.Block{Kind: decant.KindText, Content: b.Text(part.Text)}, s}
	case part.IsMedia():
		return placed{decant.Block{Kind: decant.KindImage, Media: part.Media(b.Src)}, s}
	}
	s.Text, s.Form = s.Span, source.FormRaw
	return placed{decant.Block{Kind: decant.KindOpaque, Content: b.ContentAt(s)}, s}
}
