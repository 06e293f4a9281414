package legal

import (
	"slices"

	"github.com/decantdev/decant"
)

// thinking checks that thinking is what the model wrote, that the latest turn has all of it while
// its calls are being answered, and that in manual mode that turn starts with it.
func (c *checker) thinking(turns []turn) {
	at := lastOf(turns, decant.RoleAssistant)
	if at < 0 {
		return
	}
	open := c.open(turns, at)
	if c.rules.Original != nil {
		c.unmodified()
		if open {
			c.complete(&turns[at])
		}
	}
	if open && c.rules.Thinking == decant.ThinkingManual {
		c.startsThinking(turns, at)
	}
}

func lastOf(turns []turn, role decant.Role) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].role == role {
			return i
		}
	}
	return -1
}

// open reports whether the last assistant turn, which is turn at, has calls, and the model has yet to
// answer to their results.
func (c *checker) open(turns []turn, at int) bool {
	return len(c.of(&turns[at], decant.KindUse)) > 0
}

// unmodified compares each block of thinking with the original at the same place.
func (c *checker) unmodified() {
	written := thinkingOf(c.rules.Original.Messages)
	for i := range c.ms {
		for k := range c.ms[i].Blocks {
			b := &c.ms[i].Blocks[k]
			if b.Kind != decant.KindThinking {
				continue
			}
			o := written[b.Ref]
			if o == nil || b.Changed != o.Changed || b.Signed != o.Signed || !sameText(b, o) {
				c.report(place{i, k}, ThinkingChanged, "thinking is not as the model wrote it")
			}
		}
	}
}

// complete checks that a turn has exactly the thinking of the original, in order.
func (c *checker) complete(t *turn) {
	original := turnsOf(c.rules.Original.Live())
	at := lastOf(original, decant.RoleAssistant)
	if at < 0 {
		return
	}
	o := &checker{ms: c.rules.Original.Live(), rules: c.rules}
	unsent := o.unsendable(&original[at])
	want, got := o.refs(&original[at], unsent), c.refs(t, unsent)
	if !related(o, &original[at], c, t) || slices.Equal(want, got) {
		return
	}
	c.report(place{t.start, whole}, ThinkingChanged,
		"the latest turn had %d thinking blocks and has %d, or has them in another order", len(want), len(got))
}

// refs returns the places of a turn's thinking in the transcript, but those in without.
func (c *checker) refs(t *turn, without []decant.Ref) (out []decant.Ref) {
	for _, p := range c.of(t, decant.KindThinking) {
		if ref := c.block(p).Ref; !slices.Contains(without, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// unsendable returns the places of a turn's thinking that can only be left out.
func (c *checker) unsendable(t *turn) (out []decant.Ref) {
	for _, p := range c.of(t, decant.KindThinking) {
		if b := c.block(p); c.rules.Claude && !sendable(&c.ms[p.message], b) {
			out = append(out, b.Ref)
		}
	}
	return out
}

// related reports whether two turns share a block.
func related(a *checker, ta *turn, b *checker, tb *turn) bool {
	refs := map[decant.Ref]bool{}
	for _, p := range ta.blocks {
		refs[a.block(p).Ref] = true
	}
	for _, p := range tb.blocks {
		if r := b.block(p).Ref; r.Message != 0 && refs[r] {
			return true
		}
	}
	return false
}

// startsThinking checks that the turn of the assistant since the user last spoke starts with thinking:
// its newest message, or its first when the model thinks once for all its calls.
func (c *checker) startsThinking(turns []turn, at int) {
	first := at
	for i := at; i >= 0; i-- {
		if turns[i].role == decant.RoleUser && c.speaks(&turns[i]) {
			break
		}
		if turns[i].role == decant.RoleAssistant {
			first = i
		}
	}
	if c.leads(&turns[at]) || c.leads(&turns[first]) {
		return
	}
	c.report(turns[at].blocks[0], ThinkingFirst, "a turn with calls must start with thinking, not with %s",
		c.block(turns[at].blocks[0]).Kind)
}

// speaks reports whether a turn of the user holds anything besides results.
func (c *checker) speaks(t *turn) bool {
	return len(t.blocks) > len(c.of(t, decant.KindResult))
}

func (c *checker) leads(t *turn) bool {
	return len(t.blocks) > 0 && c.block(t.blocks[0]).Kind == decant.KindThinking
}

// thinkingOf returns the blocks of thinking in ms by their place in the transcript.
func thinkingOf(ms []decant.Message) map[decant.Ref]*decant.Block {
	out := map[decant.Ref]*decant.Block{}
	for i := range ms {
		for k := range ms[i].Blocks {
			if b := &ms[i].Blocks[k]; b.Kind == decant.KindThinking && b.Ref.Message != 0 {
				out[b.Ref] = b
			}
		}
	}
	return out
}
