package policy

import (
	"maps"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/reduce"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/wire"
)

// pin finds out what is pinned: the blocks that somebody pinned, those of the tools that the preset pins, with
// their whole batch, and the instructions that the agent was told to follow. It counts what quoting them would
// take.
func (p *planner) pin() {
	p.quotable = AllPins(p.conv, p.Preset, p.Pinned)
	if !p.Quick {
		p.instructions = instructions(p.ctx, p.conv, p.est, min(mostInstructions, p.Target/3))
	}
	p.Pinned = pinInstructions(p.quotable, p.instructions)
	p.loading = loading(p.conv.Messages)
	p.quotes = make([]int, 1, len(p.conv.Messages)+1)
	for i := range p.conv.Messages {
		n := 0
		if p.loading[p.conv.Messages[i].Number] {
			n = p.sizes[i]
		} else if len(p.quotable)+len(p.instructions) > 0 {
			if text, _ := p.quoteOf(p.conv.Messages[i : i+1]); text != "" {
				n = p.est.Count(text)
			}
		}
		p.quotes = append(p.quotes, p.quotes[i]+n)
	}
}

// quoteOf returns what a checkpoint quotes of messages that it covers, and the references of what is whole.
func (p *planner) quoteOf(ms []decant.Message) (string, []decant.Ref) {
	pinned, refs := pinnedText(p.conv.With(ms), p.quotable)
	pins := []string{pinned}
	text := ""
	for i := range ms {
		for k := range ms[i].Blocks {
			ref := ms[i].Blocks[k].Ref
			in, ok := p.instructions[ref]
			if _, twice := p.quotable[ref]; !ok || twice {
				continue
			}
			text += in.text
			pins = append(pins, in.pins)
			if in.whole {
				refs = append(refs, ref)
			}
		}
	}
	if all := strings.TrimSpace(strings.Join(pins, "\n")); all != "" {
		text += summary.Section(summary.Pinned, all)
	}
	return text, refs
}

// Pins returns the blocks that the preset and the conversation itself pin.
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

// quoted returns the tokens that a checkpoint of [head, i) takes for the pins that it covers.
func (p *planner) quoted(i int) int { return p.quotes[i] - p.quotes[p.head] }

// quote returns the pins that a checkpoint of [head, cut) covers as they stand in its text, and their
// references.
func (p *planner) quote(cut int) (string, []decant.Ref) {
	if p.quoted(cut) == 0 {
		return "", nil
	}
	covered, _ := apart(p.conv.Messages[p.head:cut], p.loading)
	return p.quoteOf(covered)
}

// unpinned returns ds without the edits of pinned blocks.
func (p *planner) unpinned(ds []decant.Decision) []decant.Decision {
	if len(p.Pinned) == 0 {
		return ds
	}
	var out []decant.Decision
	for _, d := range ds {
		if _, pinned := p.Pinned[d.Target.Ref]; !pinned || d.Target.Message == 0 {
			out = append(out, d)
		}
	}
	return out
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
