package policy

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/reduce"
	"github.com/decantdev/decant/token"
)

// Stale returns which shares of the tokens of c's tool results are stale reads and exact duplicates. Both
// refer to the live part of c.
func Stale(ctx context.Context, c *decant.Conversation, e *token.Estimator) (superseded, duplicate float64) {
	total := 0
	for _, m := range c.Live() {
		for k := range m.Blocks {
			if b := &m.Blocks[k]; b.Kind == decant.KindResult {
				total += e.Block(b)
			}
		}
	}
	if total == 0 {
		return 0, 0
	}
	share := func(find func(*reduce.Subject) []decant.Decision) float64 {
		n := 0
		for _, d := range find(reduce.Of(ctx, c, reduce.Options{Counter: e})) {
			n += d.Before
		}
		return float64(n) / float64(total)
	}
	return share(reduce.Superseded), share(reduce.Duplicate)
}
