package wire

import (
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/draft"
)

// An item is a part of a source that is kept, edited or left out as one: an element of a body's list, or an object
// of a session file.
type item struct {
	span    jsonspan.Span // the whole item
	owner   int           // Number of the message that it belongs to; 0: the fixed part, always kept
	content jsonspan.Span // the value of its content member
	calls   jsonspan.Span // the value of its list of calls (Chat Completions)
}

// moved returns where the item stands in a source that has the same bytes further back.
func (it item) moved(by int) item {
	it.span, it.content, it.calls = draft.Moved(it.span, by), draft.Moved(it.content, by), draft.Moved(it.calls, by)
	return it
}
