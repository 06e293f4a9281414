package wire

import (
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/contents"
)

// A blockSpan is where a block stands in the source.
type blockSpan struct {
	span  jsonspan.Span // the whole block: an element of a list, or the one value that is the block
	text  jsonspan.Span // the value that holds its text, zero when it has none
	cache jsonspan.Span // the value of its cache marker, zero when it has none
	form  contents.Form // how text is written
	kind  spanKind      // what sort of place span is
	item  int           // which element of the body's list (or which object of a file) it belongs to
}

// A spanKind is the sort of place where a block stands within its item.
type spanKind uint8

const (
	wholeItem   spanKind = iota // the block is the whole item
	listPart                    // it is an element of the item's content list
	bareString                  // it is the item's content, a bare string
	listedCall                  // it is an element of the item's list of calls
	memberValue                 // it is the value of another member of the item
	noContent                   // the item has no block at all: this stands for its missing content
)

// moved returns where the block stands in a source that has the same bytes further back.
func (s blockSpan) moved(by int) blockSpan {
	s.span, s.text, s.cache = moved(s.span, by), moved(s.text, by), moved(s.cache, by)
	return s
}

// moved returns a span that is by bytes further back; one that is missing stays missing.
func moved(s jsonspan.Span, by int) jsonspan.Span {
	if s.IsZero() {
		return s
	}
	return jsonspan.Span{Start: s.Start + by, End: s.End + by}
}
