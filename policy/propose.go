package policy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/summary"
)

// A Proposal is a plan whose record can still be written by somebody else: what it covers is chosen.
type Proposal struct {
	Plan *decant.Plan

	made       *planner
	extractive *decant.Plan // as it was proposed
	spent      float64      // in dollars, by summarisers
	booked     float64      // part of spent that is in the ledger
}

// Owed returns what summarisers have spent on the proposal, in dollars, as far as they have not booked it themselves.
func (p *Proposal) Owed() float64 { return p.spent - p.booked }

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
	return &Proposal{Plan: plan, made: p, extractive: plan}, nil
}

// Write has the record of the plan's checkpoint written by a summariser, within the room that was chosen for it. It asks
// once, and not at all where there is no checkpoint, no time (PlanOptions.Quick), or s is nil or Extractive.
//
// An error says why what it wrote is not used: it failed or was not done when ctx was; its record is empty, an error
// message or too large; or the extractive record has a sentence that must be kept, or twice the must-keep facts, or the
// least score of the preset, and this one has not. The plan then keeps the extractive record and notes why. What the summariser
// has cost is in the checkpoint and in the price in any case.
//
// What a summariser wrote is never sealed (PlanOptions.Key). In a file it is text when it comes back, for nobody knows whose
// words it has.
func (p *Proposal) Write(ctx context.Context, s Summarizer) error {
	if _, same := s.(Extractive); s == nil || same || p.made.passage == nil || p.made.opts.Quick {
		return nil
	}
	room := p.extractive.Target - p.extractive.After.Messages
	cp, cost, err := p.made.recorder().commission(ctx, s, p.made.passage, decant.CheckpointIn(p.extractive.Decisions), room)
	p.spent += cost.USD
	if cost.Booked {
		p.booked += cost.USD
	}
	if err == nil {
		cp.CostUSD = p.spent
		next := *p.made
		next.ctx, next.edits = ctx, p.made.edits.recorded(cp)
		p.Plan, err = next.plan()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		p.Refuse(err)
	}
	return err
}

// Refuse puts the extractive record back, and notes why.
func (p *Proposal) Refuse(why error) {
	cp, plan := *decant.CheckpointIn(p.extractive.Decisions), *p.extractive
	cp.CostUSD = p.spent
	plan.Decisions = p.made.edits.recorded(&cp).list
	plan.Price = price(&plan, p.made.edits.view, &p.made.opts, p.spent)
	plan.Notes = append(slices.Clone(plan.Notes), "the record is the extractive one: "+fmt.Sprintf("%.200s", secret.Mask(why.Error())))
	p.Plan = &plan
}

// commission returns the checkpoint of a passage with a record by a summariser, which may have so many tokens more than
// the extractive one, and what was spent on it.
func (r *recorder) commission(ctx context.Context, s Summarizer, p *passage, floor *decant.Checkpoint, more int) (cp *decant.Checkpoint, cost SegmentCost, err error) {
	head := fmt.Sprintf("[Record of m%d to m%d, written by a summariser, not the user's words]\n", p.checkpoint.From, p.checkpoint.To)
	l := p.limits
	l.Budget = min(l.Budget, p.extract+max(0, more)) - l.Counter.Count(head)
	in := r.told(p.input, beside(l))
	if in.MaxTokens < 1 {
		return nil, cost, fmt.Errorf("%d tokens are too few for a summariser: %w", p.extract, decant.ErrSummary)
	}
	out, err := ask(ctx, s, in)
	if out.CostUSD > 0 && !math.IsInf(out.CostUSD, 0) {
		cost = SegmentCost{out.CostUSD, out.Booked}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, cost, fmt.Errorf("the summariser failed: %w", err)
	}
	sum, err := summary.Accept(ctx, secret.Mask(strings.ToValidUTF8(out.Text, "\uFFFD")), in.Facts, l)
	if err != nil {
		return nil, cost, err
	}
	sum.Text, sum.Rung = head+sum.Text, cmp.Or(out.Rung, decant.RungModel)
	cp = r.written(ctx, p, sum, nil)
	if err = ctx.Err(); err != nil {
		return nil, cost, fmt.Errorf("there was no time to check the summariser's record: %w", err)
	}
	return cp, cost, r.worse(cp, floor)
}

// worse says why a summariser's record is worse than the extractive one, nil when it is not.
func (r *recorder) worse(cp, floor *decant.Checkpoint) error {
	has, lost := compared(cp.Facts, floor.Facts)
	switch {
	case lost > 0:
		return fmt.Errorf("the summariser's record lacks %d sentences that must be kept: %w", lost, decant.ErrSummary)
	case has < leastFacts:
		return fmt.Errorf("the summariser's record has %.0f %% of the must-keep facts that the extractive one has: %w", 100*has, decant.ErrSummary)
	case cp.Poor && !floor.Poor:
		return fmt.Errorf("the summariser's record holds %.2f of the exact strings, the preset asks for %.2f: %w", cp.Score, r.opts.Preset.Summary.MinScore, decant.ErrSummary)
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
