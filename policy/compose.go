package policy

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/summary"
)

// Room for lines of segments, in tokens.
const (
	leastProse = 150   // for which lines of the messages need not give way
	mostLift   = 2_000 // by which a target is raised for them
	liftShare  = 0.05  // of the target, by which it is raised for them
)

// keeps are the shares of the extractive record that a record with lines of segments has, tried in order: with all of
// it nothing is lost; where there is no room beside it, what was picked last gives way if the lines hold more.
var keeps = [...]float64{1, .92}

// compose returns the plan with lines of the proposal's segments in its record. An error says why that would be worse than
// the extractive record.
func (p *Proposal) compose(ctx context.Context) (*decant.Plan, error) {
	next := *p.made
	next.ctx = ctx
	floor := decant.CheckpointIn(p.extractive.Decisions)
	room := p.extractive.Target - p.extractive.After.Messages
	more, lift := room, next.lift()
	if limit := next.opts.Preset.Summary.MaxTokens; limit > 0 {
		more = min(more+lift, next.passage.limits.Budget-next.passage.extract)
	} else {
		more += lift
	}
	cp, err := next.recorder().compose(ctx, next.passage, floor, p.segments, more)
	if err != nil {
		return nil, err
	}
	cp.CostUSD = p.spent.USD
	next.opts.Target += max(0, cp.Compressed-floor.Compressed-room)
	next.edits = p.made.edits.recorded(cp)
	return next.plan()
}

// lift returns the tokens by which the target may be raised for lines of segments. Nothing has to give way to them then,
// and the next pour comes hardly sooner. A target that somebody asked for stays.
func (p *planner) lift() int {
	o := &p.opts
	if o.Trigger == 0 {
		return 0
	}
	most := o.Trigger
	if o.Limit > 0 {
		most = min(most, o.Limit)
	}
	return max(0, min(mostLift, int(liftShare*float64(o.Target)), (most-o.Target)/4))
}

// compose returns the checkpoint of a passage with lines of segments in its record, which may have more tokens than the
// extractive one. It is never worse than that.
func (r *recorder) compose(ctx context.Context, p *passage, floor *decant.Checkpoint, segments []decant.Segment, more int) (cp *decant.Checkpoint, err error) {
	if p.draft == nil {
		return nil, errTooSmall
	}
	l := p.limits
	l.Budget = p.extract + max(0, more)
	for _, keep := range keeps {
		if keep == 1 && more < leastProse {
			continue
		}
		var s summary.Summary
		if s, err = p.draft.Compose(ctx, segments, p.drafted+max(0, more), keep); err != nil {
			continue
		}
		if s, err = summary.Accept(ctx, s.Text, p.input.Facts, l); err != nil {
			continue
		}
		s.Rung = rungOf(segments)
		cp = r.written(ctx, p, s, nil)
		cp.Segments = segments
		if err = ctx.Err(); err != nil {
			return nil, err
		}
		if err = r.worse(cp, floor); err == nil {
			return cp, nil
		}
	}
	return nil, err
}

// rungOf returns the lowest rung of segments.
func rungOf(segments []decant.Segment) (rung decant.Rung) {
	for _, s := range segments {
		if rung == "" || s.Rung == decant.RungPartial || s.Rung == decant.RungChunks && rung != decant.RungPartial {
			rung = s.Rung
		}
	}
	return rung
}
