package render

import (
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/source"
)

// An Item is a part of a source that is kept, edited or left out as one: an element of a body's list, or an object
// of a session file.
type Item struct {
	Span    jsonspan.Span // the whole item
	Owner   int           // Number of the message that it belongs to; 0: the fixed part, always kept
	Content jsonspan.Span // the value of its content member
	Calls   jsonspan.Span // the value of its list of calls (Chat Completions)
}

// Move says that the item stands in a source that has the same bytes further back.
func (it *Item) Move(by int) {
	it.Span, it.Content, it.Calls = source.Moved(it.Span, by), source.Moved(it.Content, by), source.Moved(it.Calls, by)
}
