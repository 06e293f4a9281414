package policy

import (
	"context"

	"github.com/decantdev/decant/internal/fact"
)

// What the newest messages tell of what the model will need. The numbers were chosen on sessions of one project
// (docs/BENCHMARKS.md, "Shadow validation").
const (
	wideUse  = 4 // times PlanOptions.Ahead: what the model used there may be used again, too
	lookedAt = 3 // times PlanOptions.Ahead: the model has read the results there, and will write what stands in them
)

// uses are the exact strings that a record is to have with what they are, found once for a plan.
type uses struct {
	strings []string
	known   bool
}

// used returns the exact strings of the newest messages that the model is likely to write next, the likeliest first: those
// that it used in so many tokens as the options say, those of the results that it has read last, and those that it used
// before.
func (e *evidence) used(ctx context.Context, o *PlanOptions) []string {
	if e.uses.known || e.quick || o.Ahead <= 0 {
		return e.uses.strings
	}
	now, wide, read := e.newest(o, 1), e.newest(o, wideUse), e.newest(o, lookedAt)
	seen := map[string]bool{}
	var out []string
	for _, strs := range [][]string{fact.Used(ctx, e.ms[now:]), fact.Read(ctx, e.ms[read:]), fact.Used(ctx, e.ms[wide:now])} {
		for _, s := range strs {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	e.uses = uses{out, true}
	return out
}

// newest returns the index from which the newest messages have so many times the tokens of the options.
func (e *evidence) newest(o *PlanOptions, times float64) int {
	i, n := len(e.ms), 0
	for most := int(times * float64(o.Ahead)); i > 0 && n < most; {
		i--
		n += o.Estimator.Messages(e.ms[i : i+1])
	}
	return i
}
