package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// Make makes the one deliberate rewrite of older history. Where the time for it runs out, one for money is left
// for good, and one that must happen is made by the last rung, which hardly looks at the text.
func (p *Pour) Make(ctx context.Context, why policy.Reason) error {
	end, err := p.begin()
	if err != nil {
		return err
	}
	defer end()
	if p.Summarizer != nil && !p.isOptional(why) && await(ctx, p.Draft.Input, p.Draft.RequiredTimeout/2) {
		p.Summarizer = nil // it is being asked already
	}
	limit := p.Draft.RequiredTimeout
	if p.isOptional(why) && !resumesCold(p, why) {
		limit = p.Draft.OptionalTimeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.prepared = waiting(limited, p, why)
	err = p.pourWithin(limited, why)
	switch {
	case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return err
	case p.isOptional(why):
		p.noteFutile()
		return err
	}
	p.quick = true
	return p.pourWithin(ctx, why)
}

// begin makes what is decided until the end part of a new pour.
func (p *Pour) begin() (end func(), err error) {
	id, err := p.Draft.IDs.Next()
	if err != nil {
		return nil, err
	}
	p.Draft.PourID = "pour-" + id // so that people see what it is the id of
	return func() { p.Draft.PourID = "" }, nil
}

// pourWithin tries the routes that are legal in the conversation's state, cheapest first, each first with the
// target that is wanted and then with smaller ones; the first whose view is legal, fits and saves enough is
// taken. It ends when ctx does.
func (p *Pour) pourWithin(ctx context.Context, why policy.Reason) error {
	if taken, err := provided(ctx, p, why); taken {
		return err
	}
	if p.Draft.Pausing = pauses(p, why, p.targets(why)[0]); p.Draft.Pausing {
		return nil
	}
	var failed []error
	for _, target := range p.targets(why) {
		for _, rt := range p.routes(why) {
			err := p.attemptRoute(ctx, rt, target, why)
			if err == nil {
				p.Draft.Outcome.Reason, p.Draft.Outcome.Route = why, rt.name
				p.record(ctx, rt, why)
				return wrapUp(p)
			}
			failed = append(failed, fmt.Errorf("%s: %w", rt.name, err))
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("pour (%s): %w", why, errors.Join(append(failed, err)...))
			}
		}
	}
	return p.poor(why, errors.Join(failed...))
}

// provided pours by a summary that the provider has written in place of an answer, or writes when it is asked to. It reports
// false where there is none, or none that serves.
func provided(ctx context.Context, p *Pour, why policy.Reason) (taken bool, err error) {
	rt := pausing
	switch {
	case p.Draft.Demand.Summary != nil:
	case compacts(p, why):
		rt = compacting
	default:
		return false, nil
	}
	if err = p.attemptRoute(ctx, rt, p.targets(why)[0], why); err != nil {
		p.Draft.Outcome.Uncompacted = err
		return false, nil
	}
	p.Draft.Outcome.Reason, p.Draft.Outcome.Route = why, rt.name
	return true, wrapUp(p)
}

// attemptRoute carries a pour out by one route: with the plan that was prepared for it, if that is good, and otherwise with
// one that is made at once.
func (p *Pour) attemptRoute(ctx context.Context, rt route, target int, why policy.Reason) error {
	if rt.plans && p.prepared != nil {
		if err := carry(ctx, p, rt, target, why); err == nil {
			return nil
		}
		p.prepared = nil
	}
	return carry(ctx, p, rt, target, why)
}

// carry carries a pour out by one route, on a copy, and keeps it if it is good: the next route, or the request
// without a pour, must not go out with what a refused one has set.
func carry(ctx context.Context, p *Pour, rt route, target int, why policy.Reason) error {
	next := p.copy()
	if err := rt.carry(ctx, next, target); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // what it made is not whole
		return err
	}
	if err := next.check(why, rt.unsure); err != nil {
		return err
	}
	*p.Draft, p.proposal = *next.Draft, next.proposal
	return nil
}

// poor notes that a pour was due and not worth it, or not possible. One for money is not planned again,
// and two others in a row suppress further ones, until something changes. It returns a typed error when the request does not fit its window.
func (p *Pour) poor(why policy.Reason, err error) error {
	p.Draft.Outcome.Route = "none"
	if why == policy.Routine {
		return nil
	}
	if why == policy.Free || why == policy.Paid {
		p.noteFutile()
		return nil
	}
	p.Draft.Meter.Poor = p.Draft.Outcome.Before
	p.Draft.NotWorth++
	var irreducible *decant.IrreducibleError
	switch {
	case errors.Is(err, decant.ErrFixed), errors.As(err, &irreducible), p.Draft.Outcome.Before > p.Draft.Limits.Window:
		return fmt.Errorf("pour (%s): %w", why, err)
	}
	return nil
}

// Offer makes a pour that is not due: one that brings the view down to the size that every pour aims at, if that
// is worth it. It gives nothing up that only a pour which must happen may give up.
func (p *Pour) Offer(ctx context.Context) error {
	target := p.targets(policy.Necessary)[0]
	if p.Draft.Estimator.Messages(p.Draft.View.Messages) <= target {
		return nil
	}
	end, err := p.begin()
	if err != nil {
		return err
	}
	defer end()
	for _, rt := range p.routes(policy.Necessary) {
		if rt.name != folding.name && p.attemptRoute(ctx, rt, target, policy.Necessary) == nil {
			p.Draft.Outcome.Reason, p.Draft.Outcome.Route = policy.Necessary, rt.name
			p.record(ctx, rt, policy.Necessary)
			return nil
		}
	}
	return nil
}

// AheadOptions returns the options of the pour that will come after a draft was sent, for a segment that is written ahead of it,
// and false where the conversation is not as near to its trigger as the preset says, or is not stored yet.
func AheadOptions(dr *Draft) (policy.PlanOptions, bool) {
	in := dr.Input
	ahead := dr.Preset.Summary.Ahead.Tokens()
	if ahead == 0 || dr.Limits.Trigger == 0 || dr.Outcome.After <= dr.Limits.Trigger-ahead || aheadOf(in) == nil || in.Match.Branch != nil ||
		dr.Pauses() && !dr.Bound() { // the model will write it in its place
		return policy.PlanOptions{}, false
	}
	p := &Pour{Draft: dr}
	o := p.planOptions(p.targets(policy.Necessary)[0])
	size := p.room(dr.Outcome.After)
	step := size / max(1, len(decant.Rounds(dr.View.Live())))
	o.Coming = max(0, o.Trigger-size) + step/2
	return o, true
}
