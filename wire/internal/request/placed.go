package request

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
	"github.com/decantdev/decant/wire/internal/parsing"
)

// A placed block is one that is not yet added to its message.
type placed struct {
	block decant.Block
	at    parsing.BlockSpan
}

// nextPart consumes an element of a content list, of this API or of the Responses API.
func nextPart(b *parsing.Builder, sc *jsonspan.Scanner) placed {
	part := contents.NextPart(sc, b.Src)
	s := parsing.BlockSpan{Span: part.Span, Kind: parsing.ListPart}
	switch {
	case part.IsText() && !part.Text.IsZero():
		s.Text = part.Text
		return placed{decant.Block{Kind: decant.KindText, Content: b.Text(part.Text)}, s}
	case part.IsMedia():
		return placed{decant.Block{Kind: decant.KindImage, Media: part.Media(b.Src)}, s}
	}
	s.Text, s.Form = s.Span, contents.FormRaw
	return placed{decant.Block{Kind: decant.KindOpaque, Content: b.ContentAt(s)}, s}
}
