package policy

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
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

// A Proposal is a plan whose record can still have lines that somebody else writes: what it covers is chosen.
type Proposal struct {
	Plan *decant.Plan

	made       *planner
	extractive *decant.Plan     // with the extractive record
	proposed   *decant.Plan     // with lines of the segments that there were, where that is no worse
	segments   []decant.Segment // about the range of the plan's checkpoint, those written for it included
	spent      SegmentCost      // by summarisers
	unbooked   float64          // of it
	lost       []string         // that a try to compose the record has lost
}

// Propose is Plan for those who have a Summarizer.
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
		err = ctx.Err() // what was proved of it is not whole
	}
	if err != nil {
		return nil, err
	}
	out := &Proposal{Plan: plan, made: p, extractive: plan, proposed: plan, segments: about(p)}
	if len(out.segments) > 0 {
		out.proposed = out.without(out.compose(ctx))
		out.Plan = out.proposed
	}
	return out, ctx.Err()
}

// about returns the usable segments of a planner's options that are about messages of its checkpoint.
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

// Write asks a summariser for a segment about those messages of the plan's checkpoint that no segment is about, and
// composes the record again, with lines of it. It asks once, and not at all where there is no checkpoint, no time
// (PlanOptions.Quick), little that no segment is about, or s is nil or Extractive.
//
// An error says why what it wrote is not used: it failed or was not done when ctx was; its text is no segment, see
// WriteSegment; or the record with lines of it is worse than the extractive one: it has fewer of the exact strings with
// their context, lacks a sentence that must be kept or half of the must-keep facts. The plan then stays as it was
// proposed and notes why. What the summariser has cost is in the checkpoint and in the price in any case, and a segment
// that was accepted is in the checkpoint, for later records.
//
// A record with lines that a model wrote is never sealed (PlanOptions.Key). In a file it is text when it comes back.
func (p *Proposal) Write(ctx context.Context, s Summarizer) error {
	if _, same := s.(Extractive); s == nil || same || p.made.passage == nil || p.made.opts.Quick {
		return nil
	}
	rest, ok := p.rest(ctx)
	if !ok {
		return nil
	}
	r := p.made.recorder()
	seg, cost, err := r.segment(ctx, s, rest, r.segmentRoom(rest))
	p.spent.USD += cost.USD
	if !cost.Booked {
		p.unbooked += cost.USD
	}
	if err == nil {
		p.segments = append(p.segments, seg)
		p.Plan, err = p.compose(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		p.Refuse(err)
	}
	noted := *p.Plan
	noted.Notes = slices.Concat(noted.Notes, cost.Notes)
	p.Plan = &noted
	return err
}

// Unbooked returns what summarisers have cost that they have not booked themselves, in dollars.
func (p *Proposal) Unbooked() float64 { return p.unbooked }

// rest returns what of the checkpoint's range no segment is about, and whether it is worth a call: where there are
// segments, a few messages behind the last one are not.
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

// Refuse puts the plan back as it was proposed, and notes why.
func (p *Proposal) Refuse(why error) { p.Plan = p.without(p.proposed, why) }

// without returns a plan; where there is a reason why not, the one with the extractive record, or the one that was
// proposed, with the segments that there are and a note.
func (p *Proposal) without(plan *decant.Plan, why error) *decant.Plan {
	if why == nil {
		return plan
	}
	out := *p.proposed
	cp, edits := *decant.CheckpointIn(out.Decisions), p.made.edits
	cp.CostUSD, cp.Segments = p.spent.USD, p.segments
	edits = edits.recorded(&cp)
	out.Decisions = edits.list
	if view, err := edits.current(); err == nil {
		out.Price = price(&out, view, &p.made.opts, p.spent.USD)
	}
	what := "the record is the extractive one: "
	if cp.Rung != decant.RungExtractive && cp.Rung != decant.RungHeadTail {
		what = "the record is the one without a new segment: "
	}
	out.Notes = append(slices.Clone(out.Notes), what+fmt.Sprintf("%.200s", secret.Mask(why.Error())))
	return &out
}

// worse says why a record with lines that models wrote is worse than the extractive one, nil when it is not.
func (r *recorder) worse(cp, floor *decant.Checkpoint) error {
	has, lost := compared(cp.Facts, floor.Facts)
	switch {
	case lost > 0:
		return fmt.Errorf("the summariser's record lacks %d sentences that must be kept: %w", lost, decant.ErrSummary)
	case has < leastFacts:
		return fmt.Errorf("the summariser's record has %.0f %% of the must-keep facts that the extractive one has: %w", 100*has, decant.ErrSummary)
	case cp.Score < floor.Score:
		return fmt.Errorf("the summariser's record holds %.3f of the exact strings, the extractive one %.3f: %w", cp.Score, floor.Score, decant.ErrSummary)
	}
	return nil
}

// leastFacts is the share of the must-keep facts of the extractive record, by their weight, that another one must have.
// It may have fewer: prose repeats fewer names than quotes do, and says more with them.
const leastFacts = 0.5

// compared returns which share of the weight of facts is among those of a record, and how many sentences are not.
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
