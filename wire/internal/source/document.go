package source

import (
	"github.com/decantdev/decant"
)

// A Document is what a parser has made of a source: a conversation, and the layout that writes views of it.
type Document struct {
	Source       []byte
	Conversation *decant.Conversation
	Warnings     []Warning // in source order
	Kept         int       // how many messages were taken over from an earlier reading
	Layout       Layout
}

// A Layout knows where in the source of a document its messages and blocks stand, and how to write
// a view of it in the same format.
type Layout interface {
	// Render returns src, which was read as conv, with what the view changes, and src itself when view says
	// nothing else.
	Render(src []byte, conv, view *decant.Conversation) ([]byte, error)
}

// Unchanged reports whether a view is the conversation itself, or its live part: the very same
// messages. A view may say the same with other messages.
func Unchanged(conv, view *decant.Conversation) bool {
	n := len(view.Messages)
	if n == 0 || n != len(conv.Messages) && n != len(conv.Live()) {
		return false
	}
	return &view.Messages[0] == &conv.Messages[len(conv.Messages)-n]
}

// A Warning is something in a source that is not as it should be and did not keep the rest from being read.
type Warning struct {
	Offset int    // in bytes, where it is
	Line   int    // of a session file, from 1; 0 in a request body
	Text   string // what is wrong and what was done about it
}
