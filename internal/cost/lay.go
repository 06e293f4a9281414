package cost

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// LayBlock returns a block of a message of the given role as a block of a prompt, with the tokens that e counts and
// without the framing of the message. Its identity is that of its kind, role, call, name and text.
func LayBlock(b *decant.Block, role decant.Role, e *token.Estimator) Block {
	id := string(role) + "\x00" + string(b.Kind) + "\x00" + b.CallID + "\x00" + b.Name + "\x00" + b.Text()
	return Block{ID: decant.HashText(id), Tokens: e.Block(b), Cache: b.Marker()}
}
