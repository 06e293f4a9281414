package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
)

// A Pour carries out the pour of a draft: it tries the routes, and keeps the first whose view is right.
type Pour struct {
	Schedule
	proposal *policy.Proposal // that the draft carries out, nil: there is none
	prepared *decant.Plan     // that was made beside the conversation, nil: a route makes its own
}

// NewPour returns the pour of a draft, with records by a summariser; nil is the extractive one.
func NewPour(dr *Draft, by provider.Summarizer) *Pour {
	return &Pour{Schedule: Schedule{Draft: dr, Summarizer: by}}
}

// Make makes the one deliberate rewrite of older history. Where the time for it runs out, one for money is left
// for good, and one that must happen is made by the last rung, which hardly looks at the text.
func (p *Pour) Make(ctx context.Context, why policy.Reason) error {
	dr := p.Draft
	end, err := p.begin()
	if err != nil {
		return err
	}
	defer end()
	if p.Summarizer != nil && !p.isOptional(why) && !p.segmentWritten(ctx) {
		p.Summarizer = nil // it is being asked already
	}
	limit := dr.RequiredTimeout
	if p.isOptional(why) && !p.resumesCold(why) {
		limit = dr.OptionalTimeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.prepared = (&Upcoming{&p.Schedule, dr.cached()}).prepared(limited, why)
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

// segmentWritten waits for a segment that is being written ahead of the pour, for half of the time for a pour at most.
// It reports false when it is still not written then.
func (p *Pour) segmentWritten(ctx context.Context) bool {
	dr := p.Draft
	c := dr.cached()
	if c == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, dr.RequiredTimeout/2)
	defer cancel()
	return c.written.wait(ctx)
}

// begin makes what is decided until the end part of a new pour.
func (p *Pour) begin() (end func(), err error) {
	dr := p.Draft
	id, err := dr.IDs.Next()
	if err != nil {
		return nil, err
	}
	dr.PourID = "pour-" + id // so that people see what it is the id of
	return func() { dr.PourID = "" }, nil
}

// pourWithin tries the routes that are legal in the conversation's state, cheapest first, each first with the
// target that is wanted and then with smaller ones; the first whose view is legal, fits and saves enough is
// taken. It ends when ctx does.
func (p *Pour) pourWithin(ctx context.Context, why policy.Reason) error {
	dr := p.Draft
	if taken, err := p.summarizeByProvider(ctx, why); taken {
		return err
	}
	if dr.Pausing = p.mayPause(why, p.targets(why)[0]); dr.Pausing {
		return nil
	}
	var failed []error
	for _, target := range p.targets(why) {
		for _, rt := range p.routes(why) {
			err := p.attemptRoute(ctx, rt, target, why)
			if err == nil {
				dr.Outcome.Reason, dr.Outcome.Route = why, rt.name
				p.record(ctx, rt, why)
				return p.wrapUp()
			}
			failed = append(failed, fmt.Errorf("%s: %w", rt.name, err))
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("pour (%s): %w", why, errors.Join(append(failed, err)...))
			}
		}
	}
	return p.poor(why, errors.Join(failed...))
}

// summarizeByProvider pours by a summary that the provider has written in place of an answer, or writes when it is
// asked to. It reports false where there is none, or none that serves.
func (p *Pour) summarizeByProvider(ctx context.Context, why policy.Reason) (taken bool, err error) {
	dr := p.Draft
	rt := pausing
	switch {
	case dr.Demand.Summary != nil:
	case p.maySummarize(why):
		rt = compacting
	default:
		return false, nil
	}
	if err = p.attemptRoute(ctx, rt, p.targets(why)[0], why); err != nil {
		dr.Outcome.Uncompacted = err
		return false, nil
	}
	dr.Outcome.Reason, dr.Outcome.Route = why, rt.name
	return true, p.wrapUp()
}

// attemptRoute carries a pour out by one route: with the plan that was prepared for it, if that is good, and otherwise
// with one that is made at once.
func (p *Pour) attemptRoute(ctx context.Context, rt route, target int, why policy.Reason) error {
	if rt.plans && p.prepared != nil {
		if err := p.carry(ctx, rt, target, why); err == nil {
			return nil
		}
		p.prepared = nil
	}
	return p.carry(ctx, rt, target, why)
}

// carry carries a pour out by one route, on a copy, and keeps it if it is good: the next route, or the request
// without a pour, must not go out with what a refused one has set.
func (p *Pour) carry(ctx context.Context, rt route, target int, why policy.Reason) error {
	r := p.rewrite(target)
	if err := rt.carry(r, ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // what it made is not whole
		return err
	}
	if err := r.check(why, rt.unsure); err != nil {
		return err
	}
	p.keep(r)
	return nil
}

// poor notes that a pour was due and not worth it, or not possible. One for money is not planned again, and two others
// in a row suppress further ones, until something changes. It returns a typed error when the request does not fit its
// window.
func (p *Pour) poor(why policy.Reason, err error) error {
	dr := p.Draft
	dr.Outcome.Route = "none"
	if why == policy.Routine {
		return nil
	}
	if why == policy.Free || why == policy.Paid {
		p.noteFutile()
		return nil
	}
	dr.Meter.Poor = dr.Outcome.Before
	dr.NotWorth++
	var irreducible *decant.IrreducibleError
	switch {
	case errors.Is(err, decant.ErrFixed), errors.As(err, &irreducible), dr.Outcome.Before > dr.Limits.Window:
		return fmt.Errorf("pour (%s): %w", why, err)
	}
	return nil
}

// Offer makes a pour that is not due: one that brings the view down to the size that every pour aims at, if that
// is worth it. It gives nothing up that only a pour which must happen may give up.
func (p *Pour) Offer(ctx context.Context) error {
	dr := p.Draft
	target := p.targets(policy.Necessary)[0]
	if dr.Estimator.Messages(dr.View.Messages) <= target {
		return nil
	}
	end, err := p.begin()
	if err != nil {
		return err
	}
	defer end()
	for _, rt := range p.routes(policy.Necessary) {
		if rt.name != folding.name && p.attemptRoute(ctx, rt, target, policy.Necessary) == nil {
			dr.Outcome.Reason, dr.Outcome.Route = policy.Necessary, rt.name
			p.record(ctx, rt, policy.Necessary)
			return nil
		}
	}
	return nil
}

// record has the record of the pour written by the summariser, once, now that it is settled what the pour covers and by
// which route. Where nothing good comes of it, the pour stays as it is. A fold has no record of its own, and a pour
// that nobody has to wait for is not worth a call.
func (p *Pour) record(ctx context.Context, rt route, why policy.Reason) {
	dr := p.Draft
	if p.Summarizer == nil || p.proposal == nil || p.quick || p.isOptional(why) || dr.Covering() == nil {
		return
	}
	if notes := dr.cached().writtenAhead(p.proposal.Plan); notes != nil {
		plan := *p.proposal.Plan
		plan.Notes = slices.Concat(plan.Notes, notes)
		p.proposal.Plan, dr.Outcome.Plan = &plan, &plan
		return
	}
	err := p.proposal.Write(ctx, p.Summarizer)
	dr.Outcome.Spent = p.proposal.Unbooked()
	if err == nil {
		r := p.rewrite(0)
		if err = r.take(); err == nil {
			err = r.check(why, rt.unsure)
		}
		if err == nil {
			p.keep(r)
			return
		}
		p.proposal.Refuse(err)
	}
	dr.Outcome.Unused = err
	r := p.rewrite(0)
	if err := r.take(); err != nil { // the record as it was, and what was spent
		r.Draft.Outcome.Unused = err
	}
	p.keep(r)
}

// wrapUp asks the model to come to an end where a budget is nearly spent and the preset has it pause behind a summary.
func (p *Pour) wrapUp() error {
	dr := p.Draft
	second := &dr.Preset.Native.Compaction
	if !dr.Pressed || !second.Pause || dr.Outcome.Reason != policy.Necessary {
		return nil
	}
	return dr.Add(policy.WrapUp(dr.Conv, dr.View, slices.Concat(dr.InForce, dr.Made), dr.Estimator))
}
