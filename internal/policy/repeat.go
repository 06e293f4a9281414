package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
)

// RepeatPins returns the decision that repeats blocks behind the newest results of a view which were pinned
// after they had been cleared. It is needed because a clearing by age cannot bring back single blocks. It
// returns nil when there is nothing to repeat.
func RepeatPins(view *decant.Conversation, t EarlyPour) []decant.Decision {
	native := NativeIn(t.Made)
	if native == nil {
		return nil
	}
	c := &clearer{pour: t}
	c.whole = unrepeated(view, t.Made, native)
	at, ok := lastWord(t.transcript(view), view)
	if len(c.whole) == 0 || !ok {
		return nil
	}
	for _, ref := range c.whole {
		b := t.transcript(view).Block(ref)
		c.said = append(c.said, fmt.Sprintf("m%d %s, whole:\n%s", ref.Message, b.Name, b.Text()))
		if b.Media.Count > 0 {
			c.carried = append(c.carried, ref)
		}
	}
	d := c.insert(at)
	d.Reduction, d.Reason = decant.ReductionPinned, "what was pinned after it had been cleared"
	return []decant.Decision{d}
}

// unrepeated returns the pinned blocks of a view that were cleared and that no insert repeats, in order.
func unrepeated(view *decant.Conversation, ds []decant.Decision, native func(id string) bool) (out []decant.Ref) {
	there := map[decant.Ref]bool{}
	for i := range ds {
		for _, r := range ds[i].Repeats {
			there[r] = true
		}
	}
	for ref := range PinsIn(ds) {
		if b := view.Block(ref); b != nil && native(b.Changed) && !there[ref] {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, func(x, y decant.Ref) int { return cmp.Or(x.Message-y.Message, x.Block-y.Block) })
	return out
}
