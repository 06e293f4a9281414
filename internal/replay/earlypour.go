package replay

import (
	"context"
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
)

// early returns what an early pour decides: a checkpoint where that is paid for or, at a cold moment, costs less for each
// fact than outlines, and otherwise outlines.
func (p *pourer) early(q int, conv, view *decant.Conversation, why policy.Reason) ([]decant.Decision, error) {
	ctx := context.Background()
	thin := policy.PlanEarly(ctx, view, p.thinning(conv, why == policy.Free))
	if !p.covers {
		return p.allowed(q, view, thin), nil
	}
	proposal, err := p.proposal(ctx, q, conv)
	var irreducible *decant.IrreducibleError
	switch {
	case errors.As(err, &irreducible):
		return p.allowed(q, view, thin), nil
	case err != nil:
		return nil, err
	case why == policy.Free:
		outlined, err := p.under(q, conv, p.ds, slices.Clone(thin))
		if err != nil {
			return nil, err
		}
		if !proposal.Beats(ctx, outlined, p.fixed(q)) {
			return p.allowed(q, view, thin), nil
		}
	}
	return p.allowed(q, view, proposal.Plan.Decisions), nil
}

// proposal returns the checkpoint that an early pour of request q proposes.
func (p *pourer) proposal(ctx context.Context, q int, conv *decant.Conversation) (*policy.Proposal, error) {
	o, l, err := p.options(q, conv)
	if err != nil {
		return nil, err
	}
	o.Target, o.Trigger, o.Limit = policy.EarlyTarget(p.preset, l, p.fixed(q), decant.CheckpointIn(p.ds)), l.Trigger-p.fixed(q), l.Must()-p.fixed(q)
	return policy.Propose(ctx, conv, o)
}
