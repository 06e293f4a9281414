package source

import (
	"github.com/decantdev/decant/internal/jsonspan"
)

// A BlockSpan is where a block stands in the source.
type BlockSpan struct {
	Span  jsonspan.Span // the whole block: an element of a list, or the one value that is the block
	Text  jsonspan.Span // the value that holds its text, zero when it has none
	Cache jsonspan.Span // the value of its cache marker, zero when it has none
	Form  Form          // how text is written
	Kind  SpanKind      // what sort of place span is
	Item  int           // which element of the body's list (or which object of a file) it belongs to
}

// A SpanKind is the sort of place where a block stands within its item.
type SpanKind uint8

const (
	WholeItem   SpanKind = iota // the block is the whole item
	ListPart                    // it is an element of the item's content list
	BareString                  // it is the item's content, a bare string
	ListedCall                  // it is an element of the item's list of calls
	MemberValue                 // it is the value of another member of the item
	NoContent                   // the item has no block at all: this stands for its missing content
)

// Move says that the block stands in a source that has the same bytes further back.
func (s *BlockSpan) Move(by int) {
	s.Span, s.Text, s.Cache = Moved(s.Span, by), Moved(s.Text, by), Moved(s.Cache, by)
}

// Moved returns a span that is by bytes further back; one that is missing stays missing.
func Moved(s jsonspan.Span, by int) jsonspan.Span {
	if s.IsZero() {
		return s
	}
	return jsonspan.Span{Start: s.Start + by, End: s.End + by}
}
