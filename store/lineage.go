package store

import "github.com/decantdev/decant"

// Inherit returns the parent's decisions that a fork keeps if it shares the first position entries of
// chain: decisions on single blocks in the common part, checkpoints that cover nothing outside it, the
// revocations of these, and a hold. chain and ds are the parent's at the version that was forked.
func Inherit(ds []decant.Decision, chain []Entry, position int) []decant.Decision {
	c := common{chain: chain[:position]}
	if position < len(chain) {
		c.cut = chain[position].Message
	}
	var out []decant.Decision
	kept := map[string]bool{}
	for i := range ds {
		d := &ds[i]
		if d.Kind == decant.Revoke && kept[d.Revokes] || d.Kind != decant.Revoke && c.holds(d) {
			kept[d.ID] = true
			out = append(out, *d)
		}
	}
	return out
}

// common is the part of a chain that a parent and its fork share.
type common struct {
	chain []Entry
	cut   int // number of the parent's first message that the fork does not share whole; 0: none
	texts map[decant.Ref]decant.Hash
}

// holds reports whether everything that d concerns is in the common part.
func (c *common) holds(d *decant.Decision) bool {
	switch {
	case d.Kind == decant.Hold:
		return true
	case d.Checkpoint != nil:
		return c.covers(d.Checkpoint.To)
	case d.Target.Message == 0:
		return false
	}
	if c.texts == nil {
		c.texts = make(map[decant.Ref]decant.Hash, len(c.chain))
		for i := range c.chain {
			c.texts[c.chain[i].Ref] = c.chain[i].Text
		}
	}
	h, ok := c.texts[d.Target.Ref]
	return ok && (d.Target.Hash.IsZero() || d.Target.Hash == h)
}

// covers reports whether the whole message with the given number is in the common part.
func (c *common) covers(message int) bool {
	return len(c.chain) > 0 && message <= c.chain[len(c.chain)-1].Message && (c.cut == 0 || message < c.cut)
}
