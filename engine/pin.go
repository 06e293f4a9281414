package engine

import (
	"maps"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/reduce"
	"github.com/decantdev/decant/wire"
)

// pinnedHead stands in a checkpoint's text before the pins that it covers.
const pinnedHead = "\n\n[Pinned, verbatim]\n"

// pin finds out what is pinned: the blocks that somebody pinned, and those of the tools that the
// preset pins, with their whole batch. It counts what quoting them would take.
func (p *planner) pin() {
	p.Pinned = allPins(p.conv, p.Preset, p.Pinned)
	p.quotes = make([]int, 1, len(p.conv.Messages)+1)
	for i := range p.conv.Messages {
		n := 0
		if len(p.Pinned) > 0 {
			if text, _ := pinnedText(p.conv.With(p.conv.Messages[i:i+1]), p.Pinned); text != "" {
				n = p.est.Count(text) + p.est.Count(pinnedHead)
			}
		}
		p.quotes = append(p.quotes, p.quotes[i]+n)
	}
}

// allPins returns the blocks that are pinned one by one and those of the tools that the preset pins.
func allPins(c *decant.Conversation, set *preset.Preset, single map[decant.Ref]decant.Hash) map[decant.Ref]decant.Hash {
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
	text, refs := pinnedText(p.conv.With(p.conv.Messages[p.head:cut]), p.Pinned)
	return pinnedHead + text, refs
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
