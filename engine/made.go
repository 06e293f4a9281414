package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// madeSizes starts the planner on the view under the decisions made before, and returns by how many
// tokens each message is smaller there.
func (p *planner) madeSizes() ([]int, error) {
	less := make([]int, len(p.conv.Messages))
	if len(p.Made) == 0 {
		return less, nil
	}
	v, err := decant.View(p.conv, p.Made)
	if err != nil {
		return nil, fmt.Errorf("apply earlier decisions: %w", err)
	}
	p.view = v
	for i := range p.Made {
		d := &p.Made[i]
		k := p.index(d.Target.Message)
		if k < len(less) && p.conv.Messages[k].Number == d.Target.Message {
			less[k] += d.Before - d.After
		}
	}
	return less, nil
}

// withMade returns all decisions in force: those made before, then the plan's.
func (p *planner) withMade(ds []decant.Decision) []decant.Decision {
	if len(p.Made) == 0 {
		return ds
	}
	return slices.Concat(p.Made, ds)
}

// unpinned returns ds without the edits of pinned blocks.
func (p *planner) unpinned(ds []decant.Decision) []decant.Decision {
	if len(p.Pinned) == 0 {
		return ds
	}
	return slices.DeleteFunc(ds, func(d decant.Decision) bool {
		_, pinned := p.Pinned[d.Target.Ref]
		return pinned && d.Target.Message > 0
	})
}

// pinnedText returns the pinned blocks of the messages with the numbers from to to as text, and
// their references.
func pinnedText(c *decant.Conversation, pins map[decant.Ref]decant.Hash, from, to int) (string, []decant.Ref) {
	var out strings.Builder
	var refs []decant.Ref
	for _, m := range c.Messages {
		if m.Number < from || m.Number > to {
			continue
		}
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
