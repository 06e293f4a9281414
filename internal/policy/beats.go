package policy

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// Beats reports whether the plan's view costs less per fact than another view of the same conversation. A
// fact is an exact string of a person or the model on a line that explains it. Both views include the same
// system prompt and tools. The result goes into the reason of the plan's checkpoint.
func (p *Proposal) Beats(ctx context.Context, other *decant.Conversation, fixed int) bool {
	m := p.made
	was := m.evidence.recalled(ctx, m.conv.Messages, wire.Text(other))
	if was.Strings == 0 || m.opts.Quick {
		return false
	}
	per := func(size int, score float64) float64 {
		return float64(fixed+size) / max(score*float64(was.Strings), 1)
	}
	with := per(p.Plan.After.Messages, p.Plan.Score)
	without := per(m.opts.Estimator.Messages(other.Messages)+m.opts.Coming, was.Score)
	p.because(fmt.Sprintf("each of %d facts costs %.0f tokens of a prompt, with outlines %.0f",
		int(p.Plan.Score*float64(was.Strings)), with, without))
	return with < without && ctx.Err() == nil
}

// because adds to the reason of the plan's checkpoint.
func (p *Proposal) because(why string) {
	plan := *p.Plan
	plan.Decisions = slices.Clone(plan.Decisions)
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Checkpoint != nil {
			d.Reason += "; " + why
		}
	}
	p.Plan = &plan
}
