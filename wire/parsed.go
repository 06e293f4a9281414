package wire

import (
	"github.com/decantdev/decant"
)

// A parsed is what a parser has made of a source: a conversation, and the layout that writes views of it.
type parsed struct {
	source       []byte
	conversation *decant.Conversation
	warnings     []warning // in source order
	kept         int       // how many messages were taken over from an earlier reading
	layout       layout
}

// A layout knows where in the source of a document its messages and blocks stand, and how to write
// a view of it in the same format.
type layout interface {
	// render returns src, which was read as conv, with what the view changes, and src itself when view says
	// nothing else.
	render(src []byte, conv, view *decant.Conversation) ([]byte, error)
}

// unchanged reports whether a view is the conversation itself, or its live part: the very same
// messages. A view may say the same with other messages.
func unchanged(conv, view *decant.Conversation) bool {
	n := len(view.Messages)
	if n == 0 || n != len(conv.Messages) && n != len(conv.Live()) {
		return false
	}
	return &view.Messages[0] == &conv.Messages[len(conv.Messages)-n]
}

// A warning is something in a source that is not as it should be and did not keep the rest from being read.
type warning struct {
	offset int    // in bytes, where it is
	line   int    // of a session file, from 1; 0 in a request body
	text   string // what is wrong and what was done about it
}
