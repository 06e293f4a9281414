package render

import (
	"github.com/decantdev/decant"
)

// A Dialect writes pieces of conversation from scratch as one API wants them.
type Dialect interface {
	// Items returns the elements of the API's list that make up a message, nil when nothing of it
	// has a form there. Blocks that source knows are copied.
	Items(m *decant.Message, source Copier) [][]byte
	// Part returns an element of the content list of a message of the given role; nil when such a
	// block does not go there.
	Part(b *decant.Block, role decant.Role) []byte
	// Arguments returns the value that holds a call's arguments.
	Arguments(text string) []byte
}

// A Copier returns the bytes of a block that comes from the source, nil when it does not. A nil
// copier knows no block.
type Copier func(b *decant.Block) []byte

// Part returns the bytes of a block that comes from the source, nil when it does not.
func (c Copier) Part(b *decant.Block) []byte {
	if c == nil {
		return nil
	}
	return c(b)
}
