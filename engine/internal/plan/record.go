package plan

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// record has the record of the pour written by the summariser, once, now that it is settled what the pour covers and by
// which route. Where nothing good comes of it, the pour stays as it is. A fold has no record of its own, and a pour
// that nobody has to wait for is not worth a call.
func (p *Pour) record(ctx context.Context, rt route, why policy.Reason) {
	if p.Summarizer == nil || p.proposal == nil || p.quick || p.isOptional(why) || p.Draft.Covering() == nil {
		return
	}
	if notes := writtenAhead(aheadOf(p.Draft.Input), p.proposal.Plan); notes != nil {
		plan := *p.proposal.Plan
		plan.Notes = slices.Concat(plan.Notes, notes)
		p.proposal.Plan, p.Draft.Outcome.Plan = &plan, &plan
		return
	}
	err := p.proposal.Write(ctx, p.Summarizer)
	p.Draft.Outcome.Spent = p.proposal.Unbooked()
	if err == nil {
		next := p.copy()
		if err = next.take(); err == nil {
			err = next.check(why, rt.unsure)
		}
		if err == nil {
			*p.Draft = *next.Draft
			return
		}
		p.proposal.Refuse(err)
	}
	p.Draft.Outcome.Unused = err
	if err := p.take(); err != nil { // the record as it was, and what was spent
		p.Draft.Outcome.Unused = err
	}
}

// wrapUp asks the model to come to an end where a budget is nearly spent and the preset has it pause behind a summary.
func wrapUp(p *Pour) error {
	in := p.Draft.Input
	if !p.Draft.Pressed || !p.Draft.Preset.Native.Compaction.Pause || p.Draft.Outcome.Reason != policy.Necessary {
		return nil
	}
	return p.Draft.Add(policy.WrapUp(in.Conv, p.Draft.View, slices.Concat(p.Draft.InForce, p.Draft.Made), in.Estimator))
}

// take puts the record of the proposal into the draft.
func (p *Pour) take() error {
	p.Draft.Outcome.Plan = p.proposal.Plan
	return p.Draft.Record(decant.CheckpointIn(p.proposal.Plan.Decisions))
}
