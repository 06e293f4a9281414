package pour

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/notes"
	"github.com/decantdev/decant/policy"
)

// Ahead returns the options of the pour that will come, for a segment that is written ahead of it, and false where
// the conversation is not as near to its trigger as the preset says, or is not stored yet.
func (p *Pour) Ahead() (policy.PlanOptions, bool) {
	q := p.Draft.Query
	ahead := q.Preset.Summary.Ahead.Tokens()
	if ahead == 0 || q.Limits.Trigger == 0 || p.Draft.Outcome.After <= q.Limits.Trigger-ahead || aheadOf(q) == nil || q.Match.Branch != nil {
		return policy.PlanOptions{}, false
	}
	return p.planOptions(p.targets(policy.Necessary)[0]), true
}

// aheadOf returns what was prepared for the conversation of a request, nil when it is not stored yet.
func aheadOf(q *draft.Query) *notes.Ahead {
	if q.Match == nil || q.Match.Stored == nil {
		return nil
	}
	return notes.Of(q.Match.Stored).Ahead()
}

// segments returns what models wrote about the conversation: for its newest checkpoint, and since.
func (p *Pour) segments() (out []decant.Segment) {
	if cp := decant.CheckpointIn(p.Draft.InForce); cp != nil {
		out = slices.Clip(cp.Segments)
	}
	if a := aheadOf(p.Draft.Query); a != nil {
		out = append(out, a.Segments()...)
	}
	return out
}

// await waits for the segment that is being written ahead of the pour, for half of the time that the pour may take. It
// reports whether it is still not written: then nobody else is asked.
func (p *Pour) await(ctx context.Context, why policy.Reason) (unwritten bool) {
	a := aheadOf(p.Draft.Query)
	if p.Summarizer == nil || p.isOptional(why) || a == nil {
		return false
	}
	running := a.Running()
	if running == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, p.Draft.Query.Env.RequiredTimeout/2)
	defer cancel()
	select {
	case <-running:
		return false
	case <-ctx.Done():
		return true
	}
}

// prepared returns a note on those segments of the pour's checkpoint that were written ahead of it, empty when there
// are none.
func (p *Pour) prepared() string {
	a, cp := aheadOf(p.Draft.Query), decant.CheckpointIn(p.proposal.Plan.Decisions)
	if a == nil || cp == nil {
		return ""
	}
	ahead := a.Segments()
	for _, s := range slices.Backward(cp.Segments) {
		if slices.ContainsFunc(ahead, func(o decant.Segment) bool { return o.Of == s.Of && o.From == s.From }) {
			by := ""
			if s.Model != "" {
				by = " by " + s.Model
			}
			return fmt.Sprintf("the summary of m%d to m%d was written%s before the pour was due", s.From, s.To, by)
		}
	}
	return ""
}
