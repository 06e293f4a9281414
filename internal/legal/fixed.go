package legal

import (
	"slices"

	"github.com/decantdev/decant"
)

// fixed checks that every message of the original that is fixed is there with all of its blocks.
func (c *checker) fixed() {
	if c.rules.Original == nil {
		return
	}
	in := map[decant.Ref]bool{}
	for i := range c.ms {
		for k := range c.ms[i].Blocks {
			if b := &c.ms[i].Blocks[k]; b.Changed == "" {
				in[b.Ref] = true
			}
		}
	}
	was := c.rules.Original.Live()
	for i := range was {
		m := &was[i]
		if m.Fixed && slices.ContainsFunc(m.Blocks, func(b decant.Block) bool { return !in[b.Ref] }) {
			c.report(request, FixedMissing, "m%d is missing or changed: it configures the model, or only the provider can read it", m.Number)
		}
	}
}
