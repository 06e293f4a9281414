package wire

import (
	"github.com/decantdev/decant"
)

// A dialect writes pieces of conversation from scratch as one API wants them.
type dialect interface {
	// items returns the elements of the API's list that make up a message, nil when nothing of it
	// has a form there. Blocks that source knows are copied.
	items(m *decant.Message, source copier) [][]byte
	// part returns an element of the content list of a message of the given role; nil when such a
	// block does not go there.
	part(b *decant.Block, role decant.Role) []byte
	// arguments returns the value that holds a call's arguments.
	arguments(text string) []byte
}

// A copier returns the bytes of a block that comes from the source, nil when it does not. A nil
// copier knows no block.
type copier func(b *decant.Block) []byte

func (c copier) part(b *decant.Block) []byte {
	if c == nil {
		return nil
	}
	return c(b)
}

// dialectOf returns the dialect of a request format.
func dialectOf(f Format) dialect {
	switch f {
	case OpenAIChat:
		return chatDialect{}
	case OpenAIResponses:
		return responsesDialect{}
	}
	return anthropicDialect{}
}
