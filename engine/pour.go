package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
)

// A pouring is the pours of one draft: whether one is due, by which routes, and what becomes of it.
type pouring struct {
	dr    *draft
	money policy.Economy // as it was when it was asked last whether a pour is due
	quick bool           // there is no time for more than the last rung
}

// copy returns a pouring of a copy of the draft.
func (p *pouring) copy() *pouring {
	next, dr := *p, *p.dr
	next.dr = &dr
	return &next
}

// pour makes the one deliberate rewrite of older history. Where the time for it runs out, one for money is left
// for good, and one that must happen is made by the last rung, which hardly looks at the text.
func (p *pouring) pour(ctx context.Context, why policy.Reason) error {
	id, err := p.dr.q.env.IDs.Next()
	if err != nil {
		return err
	}
	p.dr.group = policy.PourMark + id
	defer func() { p.dr.group = "" }()
	limit := p.dr.q.env.RequiredTimeout
	if p.isOptional(why) {
		limit = p.dr.q.env.OptionalTimeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
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

// isOptional reports whether nobody has to wait for a pour: it is for money, or only observed.
func (p *pouring) isOptional(why policy.Reason) bool {
	return why == policy.Free || why == policy.Paid || p.dr.q.req.Observed
}

// pourWithin tries the routes that are legal in the conversation's state, cheapest first, each first with the
// target that is wanted and then with smaller ones; the first whose view is legal, fits and saves enough is
// taken. It ends when ctx does.
func (p *pouring) pourWithin(ctx context.Context, why policy.Reason) error {
	var failed []error
	for _, target := range p.targets(why) {
		for _, rt := range p.routes(why) {
			err := p.attemptRoute(ctx, rt, target, why)
			if err == nil {
				p.dr.outcome.Reason, p.dr.outcome.Route = why, rt.name
				return nil
			}
			failed = append(failed, fmt.Errorf("%s: %w", rt.name, err))
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("pour (%s): %w", why, errors.Join(append(failed, err)...))
			}
		}
	}
	return p.poor(why, errors.Join(failed...))
}

// targets returns the tokens of messages to aim at, one after the other.
func (p *pouring) targets(why policy.Reason) []int {
	t := p.dr.q.limits.Target
	if f := p.dr.meter.Factor; f > 0 { // the planner counts by the estimate alone
		t = int(float64(t) / f)
	}
	switch why {
	case policy.Refusal:
		return []int{p.dr.q.est.Messages(p.dr.view.Messages)}
	case policy.Free, policy.Paid:
		return []int{t}
	}
	if n := p.dr.bytes(); n > p.dr.q.most { // tokens are a poor measure of images
		share := float64(p.dr.q.most) / float64(n) / 2
		t = min(t, int(share*float64(p.dr.q.est.Messages(p.dr.view.Messages))))
	}
	return []int{t, t / 2, t / 4}
}

// attemptRoute carries a pour out by one route, on a copy, and keeps it if it is good: the next route, or the request
// without a pour, must not go out with what a refused one has set.
func (p *pouring) attemptRoute(ctx context.Context, rt route, target int, why policy.Reason) error {
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
	*p.dr = *next.dr
	return nil
}

// poor notes that a pour was due and not worth it, or not possible. One for money is not planned again,
// and two others in a row suppress further ones, until something changes. It returns a typed error when the request does not fit its window.
func (p *pouring) poor(why policy.Reason, err error) error {
	p.dr.outcome.Route = "none"
	if why == policy.Free || why == policy.Paid {
		p.noteFutile()
		return nil
	}
	p.dr.meter.Poor = p.dr.outcome.Before
	p.dr.suppress++
	var irreducible *decant.IrreducibleError
	switch {
	case errors.Is(err, decant.ErrFixed), errors.As(err, &irreducible), p.dr.outcome.Before > p.dr.q.limits.Window:
		return fmt.Errorf("pour (%s): %w", why, err)
	}
	return nil
}

// offer makes a pour that is not due: one that brings the view down to the size that every pour aims at, if that
// is worth it. It gives nothing up that only a pour which must happen may give up.
func (p *pouring) offer(ctx context.Context) error {
	target := p.targets(policy.Necessary)[0]
	if p.dr.q.est.Messages(p.dr.view.Messages) <= target {
		return nil
	}
	id, err := p.dr.q.env.IDs.Next()
	if err != nil {
		return err
	}
	p.dr.group = policy.PourMark + id
	defer func() { p.dr.group = "" }()
	for _, rt := range p.routes(policy.Necessary) {
		if rt.name != folding.name && p.attemptRoute(ctx, rt, target, policy.Necessary) == nil {
			p.dr.outcome.Reason, p.dr.outcome.Route = policy.Necessary, rt.name
			return nil
		}
	}
	return nil
}
