package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/wire"
)

// Room for lines of segments, in tokens.
const (
	leastProse = 150   // for which lines of the messages need not give way
	mostLift   = 2_000 // by which a target is raised for them
	liftShare  = 0.05  // of the target, by which it is raised for them
)

// tries are the ways to add lines of segments to a record, in order. The first ones keep the whole extractive
// record and use all or part of the extra room. The last ones drop its least valuable lines. Lines with a
// string that an earlier try has lost are skipped in the next ones, because only the first places of a
// frequent string count.
var tries = [...]struct{ keep, room float64 }{{1, 1}, {1, 1}, {1, .5}, {.92, 1}}

// compose returns the first plan with lines of the proposal's segments that is at least as good as the
// extractive plan. If there is no such plan, the error explains why.
func (p *Proposal) compose(ctx context.Context) (*decant.Plan, error) {
	if p.made.passage.draft == nil {
		return nil, errTooSmall
	}
	more := p.room()
	err := error(errTooSmall)
	p.lost = nil
	for _, t := range tries {
		var plan *decant.Plan
		if share := int(t.room * float64(max(0, more))); share >= leastProse || t.keep < 1 {
			plan, err = p.try(ctx, t.keep, share)
		}
		if err == nil || ctx.Err() != nil {
			return plan, err
		}
	}
	return nil, err
}

// try returns the plan for a share of the extractive record's lines and some extra tokens.
func (p *Proposal) try(ctx context.Context, keep float64, more int) (*decant.Plan, error) {
	next := *p.made
	next.ctx = ctx
	floor := decant.CheckpointIn(p.extractive.Decisions)
	cp, err := next.recorder().compose(ctx, next.passage, p.segments, summary.Mix{Keep: keep, Room: more, Avoid: p.lost})
	if err != nil {
		return nil, err
	}
	if err := next.recorder().worse(cp, floor); err != nil {
		p.lost = append(p.lost, next.evidence.measure(ctx, next.passage.covered).Lost(ctx, floor.Summary, cp.Summary)...)
		return nil, err
	}
	cp.CostUSD = p.spent
	next.opts.Target = max(next.opts.Target, p.extractive.After.Messages+cp.Compressed-floor.Compressed)
	next.edits = p.made.edits.recorded(cp)
	return p.recorded(ctx, &next, cp)
}

// recorded returns the extractive plan with another record, if its view keeps as many facts. Everything else
// is unchanged.
func (p *Proposal) recorded(ctx context.Context, next *planner, cp *decant.Checkpoint) (*decant.Plan, error) {
	view, err := next.current()
	if err != nil {
		return nil, err
	}
	out, o, text := *p.extractive, &next.opts, wire.Text(view)
	out.Decisions, out.Target, out.After.Messages = next.edits.list, o.Target, o.Estimator.Messages(view.Messages)+o.Coming
	if out.After.Messages > o.Target {
		return nil, &decant.IrreducibleError{Target: o.Target, Size: out.After.Messages, What: "the summary"}
	}
	if out.Score = next.evidence.recalled(ctx, p.made.conv.Messages, text).Score; out.Score < p.extractive.Score {
		p.lost = append(p.lost, p.missed(ctx, text)...)
		return nil, fmt.Errorf("the view with it holds %.3f of the exact strings, %.3f without: %w", out.Score,
			p.extractive.Score, decant.ErrSummary)
	}
	out.Risk = p.risk(ctx, cp, text)
	out.Price = price(&out, view, o, cp.CostUSD)
	return &out, nil
}

// risk returns the must-keep facts that the view with the new record lacks: facts missing before that no new
// line adds, and facts that only the extractive record had.
func (p *Proposal) risk(ctx context.Context, cp *decant.Checkpoint, text string) []decant.Fact {
	floor := decant.CheckpointIn(p.extractive.Decisions)
	old, fresh := map[string]bool{}, ""
	for line := range strings.Lines(floor.Summary) {
		old[line] = true
	}
	for line := range strings.Lines(cp.Summary) {
		if !old[line] {
			fresh += line
		}
	}
	missing := fact.Check(ctx, p.extractive.Risk, fresh).Missing
	has := map[string]bool{}
	for _, f := range cp.Facts {
		has[f.Text] = true
	}
	if lost := slices.DeleteFunc(slices.Clone(floor.Facts),
		func(f decant.Fact) bool { return has[f.Text] }); len(lost) > 0 {
		missing = append(missing, fact.Check(ctx, lost, text).Missing...)
	}
	return missing
}

// missed returns the strings that the given text of a view lacks.
func (p *Proposal) missed(ctx context.Context, now string) []string {
	was, err := p.made.edits.current()
	if err != nil {
		return nil
	}
	return p.made.evidence.measure(ctx, p.made.conv.Messages).Lost(ctx, wire.Text(was), now)
}

// room returns the tokens by which a record may exceed the extractive one.
func (p *Proposal) room() int {
	m := p.made
	more := p.extractive.Target - p.extractive.After.Messages + lift(&m.opts)
	if m.opts.Preset.Summary.MaxTokens > 0 {
		more = min(more, m.passage.limits.Budget-m.passage.extract)
	}
	return more
}

// lift returns the tokens by which lines of segments may raise a target. They then displace nothing, and the
// next pour comes hardly sooner. A target that the caller set is not raised.
func lift(o *PlanOptions) int {
	if o.Trigger == 0 {
		return 0
	}
	most := o.Trigger
	if o.Limit > 0 {
		most = min(most, o.Limit)
	}
	return max(0, min(mostLift, int(liftShare*float64(o.Target)), (most-o.Target)/4))
}

// compose returns the checkpoint of a passage with lines of segments in its record.
func (r *recorder) compose(ctx context.Context, p *passage, segments []decant.Segment, mix summary.Mix) (*decant.Checkpoint, error) {
	s, err := p.draft.Compose(ctx, segments, mix)
	if err != nil {
		return nil, err
	}
	l := p.limits
	l.Budget = p.extract + mix.Room
	if s, err = summary.Accept(ctx, s.Text, p.input.Facts, l); err != nil {
		return nil, err
	}
	s.Rung = rungOf(segments)
	cp := r.written(ctx, p, s, nil)
	cp.Segments = segments
	return cp, ctx.Err()
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
