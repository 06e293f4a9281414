package cost

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// Lay returns a view as the blocks of a prompt, in prefix order, with the tokens that e counts.
//
// The identity of a block is that of its kind, role, call, name and text; the framing of messages
// is counted at each one's first block.
func Lay(view *decant.Conversation, e *token.Estimator) []Block {
	var out []Block
	for i := range view.Fixed.Tools {
		out = append(out, layTool(&view.Fixed.Tools[i], e))
	}
	if len(out) > 0 {
		one := decant.Fixed{Tools: view.Fixed.Tools[:1]}
		out[0].Tokens = e.Fixed(&one) // with what it takes that there are tools at all
	}
	for i := range view.Fixed.System {
		out = append(out, lay(&view.Fixed.System[i], decant.RoleSystem, e))
	}
	for i := range view.Messages {
		m := &view.Messages[i]
		frame := e.Message(&decant.Message{})
		for k := range m.Blocks {
			b := lay(&m.Blocks[k], m.Role, e)
			b.Tokens += frame
			frame = 0
			out = append(out, b)
		}
	}
	return out
}

func layTool(t *decant.Tool, e *token.Estimator) Block {
	text := t.Name
	if t.Schema != nil {
		text = t.Schema.Text()
	}
	return Block{ID: decant.HashText("tool\x00" + text), Tokens: e.Tool(t), Cache: t.Cache}
}

func lay(b *decant.Block, role decant.Role, e *token.Estimator) Block {
	id := string(role) + "\x00" + string(b.Kind) + "\x00" + b.CallID + "\x00" + b.Name + "\x00" + b.Text()
	return Block{ID: decant.HashText(id), Tokens: e.Block(b), Cache: b.Marker()}
}

// LayBlock returns one block of a message of the given role as Lay does, without the framing of the
// message: so that whoever lays out one view after the other can keep what stays the same.
func LayBlock(b *decant.Block, role decant.Role, e *token.Estimator) Block { return lay(b, role, e) }
