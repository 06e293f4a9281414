package policy

import (
	"context"

	"github.com/decantdev/decant/internal/fact"
)

// What the newest messages tell of what the model will need. The numbers were chosen on sessions of one project.
const (
	wideUse  = 4 // times PlanOptions.Ahead: what the model used there may be used again, too
	lookedAt = 3 // times PlanOptions.Ahead: the model has read the results there, and will write what stands in them
)

// uses are the exact strings that a record is to have with what they are, found once for a plan.
type uses struct {
	strings []string
	known   bool
}

// used returns the exact strings of the newest messages that the model is likely to write next, the likeliest
// first: those that it used in so many tokens as the options say, those of the results that it has read last,
// and those that it used before.
func (e *evidence) used(ctx context.Context, o *PlanOptions, s *sizes) []string {
	if e.uses.known || e.quick || o.Ahead <= 0 {
		return e.uses.strings
	}
	now, wide, read := s.newest(o.Ahead), s.newest(wideUse*o.Ahead), s.newest(lookedAt*o.Ahead)
	seen := map[string]bool{}
	var out []string
	for _, strs := range [][]string{fact.Used(ctx, e.ms[now:]), fact.Read(ctx, e.ms[read:]),
		fact.Used(ctx, e.ms[wide:now])} {
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
