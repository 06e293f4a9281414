package legal

import (
	"strings"

	"github.com/decantdev/decant"
)

// responses checks the rules of the Responses API: each call must have an output behind it and each
// output a call before it; a reasoning item and the item after it must stay together.
func (c *checker) responses() {
	items := c.items()
	c.outputs(items)
	c.reasoning(items)
	if c.rules.Original != nil {
		c.units(items)
	}
}

// items returns the places of all blocks.
func (c *checker) items() (out []place) {
	for i := range c.ms {
		for k := range c.ms[i].Blocks {
			out = append(out, place{i, k})
		}
	}
	return out
}

// outputs pairs calls and outputs.
func (c *checker) outputs(items []place) {
	open := map[string][]place{}
	made := map[string]bool{} // calls of other kinds, such as programs and searches for tools
	for _, p := range items {
		b := c.block(p)
		switch b.Kind {
		case decant.KindUse:
			open[b.CallID] = append(open[b.CallID], p)
		case decant.KindResult:
			waiting := open[b.CallID]
			if len(waiting) == 0 {
				c.report(p, ItemOutputOrphan, "no call found for the output of %s", b.CallID)
				continue
			}
			open[b.CallID] = waiting[1:]
		case decant.KindOpaque:
			if b.CallID == "" {
				continue
			}
			if strings.HasSuffix(itemOf(b).Type, "_output") && !made[b.CallID] {
				c.report(p, ItemOutputOrphan, "no call found for the output of %s", b.CallID)
			}
			made[b.CallID] = true
		}
	}
	for _, p := range items {
		b := c.block(p)
		if b.Kind != decant.KindUse || len(open[b.CallID]) == 0 || open[b.CallID][0] != p {
			continue
		}
		open[b.CallID] = open[b.CallID][1:]
		if !c.rules.Record || !c.isLast(p) {
			c.report(p, ItemOutputMissing, "no output found for call %s", b.CallID)
		}
	}
}

// isLast reports whether p is in the last message with speech, where a session file may end.
func (c *checker) isLast(p place) bool {
	for i := p.message + 1; i < len(c.ms); i++ {
		if speaks(&c.ms[i]) {
			return false
		}
	}
	return true
}

// reasoning checks that each reasoning item is followed by a message or a call of the model.
func (c *checker) reasoning(items []place) {
	for i, p := range items {
		if c.block(p).Kind != decant.KindThinking {
			continue
		}
		last := i+1 == len(items)
		if last && c.rules.Record {
			return
		}
		if last || c.ms[items[i+1].message].Role != decant.RoleAssistant || c.block(items[i+1]).Kind == decant.KindResult {
			c.report(p, ReasoningAlone, "reasoning without the item that it belongs to")
		}
	}
}

// units checks that an item which directly followed reasoning in the original still does.
func (c *checker) units(items []place) {
	needs := map[decant.Ref]decant.Ref{}
	var before *decant.Block
	for i := range c.rules.Original.Messages {
		m := &c.rules.Original.Messages[i]
		for k := range m.Blocks {
			b := &m.Blocks[k]
			if before != nil && before.Kind == decant.KindThinking && m.Role == decant.RoleAssistant && b.Ref.Message != 0 {
				needs[b.Ref] = before.Ref
			}
			before = b
		}
	}
	for i, p := range items {
		want, ok := needs[c.block(p).Ref]
		if ok && (i == 0 || c.block(items[i-1]).Ref != want) {
			c.report(p, ReasoningMissing, "the item was sent without the reasoning that belongs to it")
		}
	}
}
