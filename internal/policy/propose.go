package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
)

// Plan proposes the decisions that bring c under the target. A conversation that is under it
// already gets an empty plan, unless the preset makes some reductions always. The record of a checkpoint is the
// extractive one; use Propose to have it written by a Summarizer.
//
// It returns a *decant.IrreducibleError if no legal view is small enough, an error that wraps
// decant.ErrFixed if system prompt and tools alone are too large, and ctx's error if that ends first.
func Plan(ctx context.Context, c *decant.Conversation, o PlanOptions) (*decant.Plan, error) {
	p, err := Propose(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return p.Plan, nil
}

// A Proposal is a plan with a fixed range for its record, to which a Summarizer can still add lines.
type Proposal struct {
	Plan *decant.Plan

	made       *planner
	extractive *decant.Plan     // with the extractive record
	proposed   *decant.Plan     // with lines of earlier segments, if that is at least as good
	segments   []decant.Segment // about the range of the plan's checkpoint, those written for it included
	spent      float64          // dollars, by summarisers
	unbooked   float64          // of it
	lost       []string         // lost by an attempt to compose the record
}

// Propose is Plan for callers with a Summarizer.
func Propose(ctx context.Context, c *decant.Conversation, o PlanOptions) (*Proposal, error) {
	p, err := newPlanner(ctx, c, o)
	if err != nil {
		return nil, err
	}
	for _, step := range [...]func() error{p.reduce, p.cover, p.putBack, p.unbind} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	plan, err := p.plan()
	if err == nil {
		err = ctx.Err() // the proof is incomplete
	}
	if err != nil {
		return nil, err
	}
	out := &Proposal{Plan: plan, made: p, extractive: plan, proposed: plan, segments: about(p), spent: p.opts.Spent}
	for i := range out.segments {
		out.spent += out.segments[i].CostUSD
	}
	if out.spent > 0 && decant.CheckpointIn(plan.Decisions) != nil {
		out.proposed = out.charged()
	}
	if len(out.segments) > 0 {
		out.proposed = out.without(out.compose(ctx))
	}
	out.Plan = out.proposed
	return out, ctx.Err()
}

// about returns the usable segments of a planner's options for messages of its checkpoint.
func about(p *planner) (out []decant.Segment) {
	if p.passage == nil || p.opts.Quick {
		return nil
	}
	for _, s := range Usable(p.conv, p.opts.Segments) {
		if cp := &p.passage.checkpoint; s.From <= cp.To && s.To >= cp.From {
			out = append(out, s)
		}
	}
	return out
}

// Write asks a summariser for a segment about the messages of the plan's checkpoint that have no segment yet,
// and composes the record again with its lines. It asks at most once. It does not ask without a checkpoint,
// under PlanOptions.Quick, for too few messages, or if s is nil or Extractive.
//
// The error explains why the text is not used. The summariser failed or ran out of time, or WriteSegment
// would reject its text, or the new record is worse than the extractive one. A record is worse if it has
// fewer exact strings with their context, lacks a must-keep sentence, or lacks half of the must-keep facts.
// The plan then stays as proposed and notes the reason. The checkpoint and the price always include the
// summariser's cost. An accepted segment is in the checkpoint, for later records.
//
// A record with lines of a model is never sealed (PlanOptions.Key). When a file with it is read again, it is
// ordinary text.
func (p *Proposal) Write(ctx context.Context, s provider.Summarizer) error {
	if _, same := s.(Extractive); s == nil || same || p.made.passage == nil || p.made.opts.Quick {
		return nil
	}
	rest, ok := p.rest(ctx)
	if !ok {
		return nil
	}
	r := p.made.recorder()
	seg, cost, err := r.segment(ctx, s, rest, r.segmentRoom(rest))
	p.spent += cost.USD
	if !cost.Booked {
		p.unbooked += cost.USD
	}
	if err == nil {
		seg.CostUSD = cost.USD
		p.segments = append(p.segments, seg)
		p.Plan, err = p.compose(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		p.Refuse(err)
	}
	if errors.Is(err, decant.ErrNothing) {
		err = nil // the summariser did its work, and the quotes say it all
	}
	noted := *p.Plan
	noted.Notes = slices.Concat(noted.Notes, cost.Notes)
	p.Plan = &noted
	return err
}

// Unbooked returns the cost, in dollars, that summarisers have not booked themselves.
func (p *Proposal) Unbooked() float64 { return p.unbooked }

// rest returns the part of the checkpoint's range without a segment, and whether it is worth a call. A few
// messages behind the last segment are not.
func (p *Proposal) rest(ctx context.Context) (*passage, bool) {
	m := p.made
	if len(p.segments) == 0 {
		return m.passage, true
	}
	from, to := m.conv.Index(p.segments[len(p.segments)-1].To)+1, m.conv.Index(m.passage.checkpoint.To)+1
	if from >= to || m.sizes.original(from, to) < leastStretch {
		return nil, false
	}
	return m.recorder().passage(ctx, from, to, 0), true
}

// Refuse restores the plan as proposed and notes the reason.
func (p *Proposal) Refuse(why error) { p.Plan = p.without(p.proposed, why) }

// without returns a plan. If there is a reason against it, it returns the extractive or the proposed one,
// with the segments so far and a note.
func (p *Proposal) without(plan *decant.Plan, why error) *decant.Plan {
	if why == nil {
		return plan
	}
	out := p.charged()
	cp := decant.CheckpointIn(out.Decisions)
	what := "the record is the extractive one: "
	if cp.Rung != decant.RungExtractive && cp.Rung != decant.RungHeadTail {
		what = "the record is the one without a new segment: "
	}
	out.Notes = append(slices.Clone(out.Notes), what+fmt.Sprintf("%.200s", secret.Mask(why.Error())))
	return out
}

// charged returns the plan as proposed with what was spent so far in its checkpoint and price.
func (p *Proposal) charged() *decant.Plan {
	out := *p.proposed
	cp := *decant.CheckpointIn(out.Decisions)
	cp.CostUSD, cp.Segments = p.spent, p.segments
	edits := p.made.edits.recorded(&cp)
	out.Decisions = edits.list
	if view, err := edits.current(); err == nil {
		out.Price = price(&out, view, &p.made.opts, p.spent)
	}
	return &out
}

// worse explains why a record with lines of models is worse than the extractive one. It returns nil if it is
// not.
func (r *recorder) worse(cp, floor *decant.Checkpoint) error {
	has, lost := compared(cp.Facts, floor.Facts)
	switch {
	case lost > 0:
		return fmt.Errorf("the summariser's record lacks %d sentences that must be kept: %w", lost, decant.ErrSummary)
	case has < leastFacts:
		return fmt.Errorf("the summariser's record has %.0f %% of the must-keep facts that the extractive one has: %w",
			100*has, decant.ErrSummary)
	case cp.Score < floor.Score:
		return fmt.Errorf("the summariser's record holds %.3f of the exact strings, the extractive one %.3f: %w",
			cp.Score, floor.Score, decant.ErrSummary)
	}
	return nil
}

// leastFacts is the share of the extractive record's must-keep facts, by weight, that another record must
// have. It is below 1 because prose repeats fewer names than quotes do and says more with them.
const leastFacts = 0.5

// compared returns the share of the weight of facts that a record has, and the number of sentences that it
// lacks.
func compared(record, facts []decant.Fact) (share float64, lost int) {
	there := map[string]bool{}
	for _, f := range record {
		there[f.Text] = true
	}
	kept, all := 0.0, 0.0
	for _, f := range facts {
		all += f.Weight
		switch {
		case there[f.Text]:
			kept += f.Weight
		case f.Kind.Sentence():
			lost++
		}
	}
	if all == 0 {
		return 1, 0
	}
	return kept / all, lost
}
