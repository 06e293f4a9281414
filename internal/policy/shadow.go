package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
)

// Lacks returns the exact strings that the model used in the messages of c from an index on, and that the
// checkpoint covers but its record lacks. It checks plans that were made ahead of their pour. When ctx is
// done it ends early.
func Lacks(ctx context.Context, c *decant.Conversation, cp *decant.Checkpoint, from int) (out []string) {
	if from >= len(c.Messages) {
		return nil
	}
	for _, s := range fact.Used(ctx, c.Messages[from:]) {
		if !strings.Contains(cp.Summary, s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil
	}
	stands := map[string]bool{}
	for i := range c.Messages {
		if m := &c.Messages[i]; cp.Covers(m.Number) && ctx.Err() == nil {
			for k := range m.Blocks {
				find(&m.Blocks[k], out, stands)
			}
		}
	}
	n := 0
	for _, s := range out {
		if stands[s] {
			out[n] = s
			n++
		}
	}
	return out[:n]
}

// find notes which strings a block contains. Most are in no block, or in the first, so that few texts are
// decoded.
func find(b *decant.Block, strs []string, stands map[string]bool) {
	open := slices.DeleteFunc(slices.Clone(strs), func(s string) bool { return stands[s] })
	if !b.MayHold(open...) {
		return
	}
	text := b.Text()
	for _, s := range open {
		if strings.Contains(text, s) {
			stands[s] = true
		}
	}
}

// Expected reports whether a plan that was made ahead of its pour, for a target, is still right now that more
// tokens have come than were expected, or fewer: its view is not larger than the target by more than a tenth
// of what comes between two pours, and it has not left out that much for nothing.
func Expected(plan *decant.Plan, more, target, trigger int) bool {
	slack := max(0, trigger-target) / 10
	return more >= -slack && plan.After.Messages+more <= max(target, plan.Target)+slack
}
