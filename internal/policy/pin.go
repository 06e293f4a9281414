package policy

import (
	"context"
	"maps"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/reduce"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/wire"
)

// pins are the blocks that always stay verbatim: pinned blocks, results of tools that the preset pins with
// their whole batch, and the instructions for the agent.
type pins struct {
	conv         *decant.Conversation
	standing     map[int]bool               // numbers of messages that checkpoints leave out, see the function
	quotable     map[decant.Ref]decant.Hash // pins except instructions
	instructions map[decant.Ref]instruction // the agent's instructions
	all          map[decant.Ref]decant.Hash // quotable, and instructions that stay whole
}

// pinsOf returns the pins of a conversation.
func pinsOf(ctx context.Context, c *decant.Conversation, o *PlanOptions) *pins {
	p := &pins{conv: c, standing: standing(c.Messages), quotable: AllPins(c, o.Preset, o.Pinned)}
	if o.Record && c.Agent == "codex" {
		maps.Copy(p.standing, retold(c.Messages, p.standing, o))
	}
	if !o.Quick {
		p.instructions = instructions(ctx, c, o.Estimator, min(mostInstructions, o.Target/3))
	}
	p.all = pinInstructions(p.quotable, p.instructions)
	return p
}

// count returns the tokens of quotes, in the form of sizes: quotes[i] is the size of the quotes in a
// checkpoint of the first i messages.
func (p *pins) count(tokens []int, counter decant.Counter) []int {
	quotes := make([]int, 1, len(p.conv.Messages)+1)
	for i := range p.conv.Messages {
		n := 0
		if p.standing[p.conv.Messages[i].Number] {
			n = tokens[i]
		} else if text, _ := p.quote(p.conv.Messages[i : i+1]); text != "" {
			n = counter.Count(text)
		}
		quotes = append(quotes, quotes[i]+n)
	}
	return quotes
}

// quote returns a checkpoint's quotes of the messages that it covers, and the references of blocks quoted
// whole.
func (p *pins) quote(ms []decant.Message) (string, []decant.Ref) {
	if len(p.quotable)+len(p.instructions) == 0 {
		return "", nil
	}
	pinned, refs := pinnedText(p.conv.With(ms), p.quotable)
	quoted := []string{pinned}
	text := ""
	for i := range ms {
		for k := range ms[i].Blocks {
			ref := ms[i].Blocks[k].Ref
			in, ok := p.instructions[ref]
			if _, twice := p.quotable[ref]; !ok || twice {
				continue
			}
			text += in.text
			quoted = append(quoted, in.pins)
			if in.whole {
				refs = append(refs, ref)
			}
		}
	}
	if all := strings.TrimSpace(strings.Join(quoted, "\n")); all != "" {
		text += summary.Section(summary.Pinned, all)
	}
	return text, refs
}

// without returns ds without the edits of pinned blocks.
func (p *pins) without(ds []decant.Decision) []decant.Decision {
	if len(p.all) == 0 {
		return ds
	}
	var out []decant.Decision
	for _, d := range ds {
		if _, pinned := p.all[d.Target.Ref]; !pinned || d.Target.Message == 0 {
			out = append(out, d)
		}
	}
	return out
}

// Pins returns the blocks that the preset and the conversation pin.
func Pins(c *decant.Conversation, set *preset.Preset) map[decant.Ref]decant.Hash {
	return AllPins(c, set, nil)
}

// AllPins returns the blocks that are pinned one by one, and those of the tools that the preset pins.
func AllPins(c *decant.Conversation, set *preset.Preset, single map[decant.Ref]decant.Hash) map[decant.Ref]decant.Hash {
	tools := reduce.Pins(c.Messages, set.Tools.Pin)
	if len(tools) == 0 {
		return single
	}
	maps.Copy(tools, single)
	return tools
}

// pinnedText returns the pinned blocks of c as text, and their references.
func pinnedText(c *decant.Conversation, pins map[decant.Ref]decant.Hash) (string, []decant.Ref) {
	var out strings.Builder
	var refs []decant.Ref
	for _, m := range c.Messages {
		var kept []decant.Block
		for _, b := range m.Blocks {
			if h, ok := pins[b.Ref]; ok && b.Hash() == h {
				kept = append(kept, b)
				refs = append(refs, b.Ref)
			}
		}
		if len(kept) > 0 {
			m.Blocks = kept
			out.WriteString(wire.Text(c.With([]decant.Message{m})))
		}
	}
	return strings.TrimSpace(out.String()), refs
}
