// Package costtest lays out whole views as prompts, for tests of what is cached of them.
package costtest

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// Lay returns a view as the blocks of a prompt, in prefix order, with the tokens that e counts. The framing of messages
// is counted at each one's first block.
func Lay(view *decant.Conversation, e *token.Estimator) []cost.Block {
	var out []cost.Block
	for i := range view.Fixed.Tools {
		out = append(out, layTool(&view.Fixed.Tools[i], e))
	}
	if len(out) > 0 {
		one := decant.Fixed{Tools: view.Fixed.Tools[:1]}
		out[0].Tokens = e.Fixed(&one) // with what it takes that there are tools at all
	}
	for i := range view.Fixed.System {
		out = append(out, cost.LayBlock(&view.Fixed.System[i], decant.RoleSystem, e))
	}
	for i := range view.Messages {
		m := &view.Messages[i]
		frame := e.Message(&decant.Message{})
		for k := range m.Blocks {
			b := cost.LayBlock(&m.Blocks[k], m.Role, e)
			b.Tokens += frame
			frame = 0
			out = append(out, b)
		}
	}
	return out
}

func layTool(t *decant.Tool, e *token.Estimator) cost.Block {
	text := t.Name
	if t.Schema != nil {
		text = t.Schema.Text()
	}
	return cost.Block{ID: decant.HashText("tool\x00" + text), Tokens: e.Tool(t), Cache: t.Cache}
}
