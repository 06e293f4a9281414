package wire

import (
	"iter"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire/internal/request"
)

// Member returns where in Source the value of a member of the request stands, the last one of several:
// "system", "cache_control". It is zero when the request has no such member, and in a session file.
func (d *Document) Member(name string) jsonspan.Span {
	l, ok := d.layout.(*request.Body)
	if !ok {
		return jsonspan.Span{}
	}
	return l.Member(d.Source, name)
}

// Frame returns the request without system prompt, tools and messages, whatever its API calls them: a JSON object of
// the parameters, in the client's own bytes and order, without the space between them. It is nil for a session file.
func (d *Document) Frame() []byte {
	l, ok := d.layout.(*request.Body)
	if !ok {
		return nil
	}
	return l.Parameters(d.Source)
}

// Raw returns the bytes of a block as they stand in the source of a request body: an element of a
// content list, or the bare string that is a message's whole content. They are part of Source and
// must not be changed. It returns "null" where a message has no content, and nil when the document
// is not a request body or has no such block.
func (d *Document) Raw(r decant.Ref) []byte {
	l, ok := d.layout.(*request.Body)
	if !ok {
		return nil
	}
	return l.Block(d.Source, r)
}

// FixedItems returns those elements of a request's list of messages that belong to the fixed part, in order, each with
// the number of the message that it follows, 0 before the first. There are none in a session file.
func (d *Document) FixedItems() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		l, ok := d.layout.(*request.Body)
		if !ok {
			return
		}
		after := 0
		for i := range l.Items {
			if it := &l.Items[i]; it.Owner != 0 {
				after = it.Owner
			} else if !yield(after, it.Span.Of(d.Source)) {
				return
			}
		}
	}
}
