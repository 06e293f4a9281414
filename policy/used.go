package policy

import (
	"context"

	"github.com/decantdev/decant/internal/fact"
)

// uses are the exact strings that the model used in the newest messages, found once for a plan.
type uses struct {
	strings []string
	known   bool
}

// used returns the exact strings that the model used in the newest messages, of so many tokens as the options say.
func (e *evidence) used(ctx context.Context, o *PlanOptions) []string {
	if e.uses.known || e.quick || o.Ahead <= 0 {
		return e.uses.strings
	}
	i, n := len(e.ms), 0
	for i > 0 && n < o.Ahead {
		i--
		n += o.Estimator.Messages(e.ms[i : i+1])
	}
	e.uses = uses{fact.Used(ctx, e.ms[i:]), true}
	return e.uses.strings
}
