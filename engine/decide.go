package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
)

// decide makes the decisions of this request: first what it brings for the first time, then, if it is due, the pour. It
// reports whether the conversation must be looked at anew first. The error says what was due and could not be done; the
// view stays legal.
func (a *attempt) decide(ctx context.Context) (behind bool, fault error) {
	if err := a.arrive(ctx); err != nil {
		return false, err
	}
	a.dr.outcome.Before = a.dr.size(a.dr.view)
	a.dr.outcome.After = a.dr.outcome.Before
	l, err := policy.LimitsFor(a.dr.q.model, a.dr.q.preset, a.dr.q.fixed, a.dr.q.refs.Conv.MaxOutput)
	a.dr.q.limits = l
	if err != nil {
		return false, err
	}
	a.tighten(ctx)
	if a.dr.q.demand.reason == "" && a.dr.unsure() && a.awaited(ctx) { // what the provider has reported since
		return true, nil
	}
	if done, err := a.yield(ctx); done || err != nil {
		return false, err
	}
	p := &pouring{dr: a.dr}
	reason := a.dr.q.demand.reason
	if reason == "" && (!a.dr.q.match.Repeats() || a.dr.q.demand.unedit) {
		reason = policy.Due(p.situation())
	}
	switch {
	case reason == "":
		return false, nil
	case a.dr.q.demand.reason == "" && a.overtook(ctx):
		return true, nil
	}
	return false, p.pour(ctx, reason)
}

// arrive makes the decisions that do not depend on the size of the request.
func (a *attempt) arrive(ctx context.Context) error {
	if err := a.inherit(ctx); err != nil {
		return err
	}
	if err := a.giveUpEditing(ctx); err != nil {
		return err
	}
	if err := a.firstSight(ctx); err != nil {
		return fmt.Errorf("first sight: %w", err)
	}
	if err := a.repeatPins(); err != nil {
		return fmt.Errorf("repeat pins: %w", err)
	}
	return nil
}

// awaited waits for archives of the conversation that are under way, and reports whether there were any.
func (a *attempt) awaited(ctx context.Context) bool {
	ctx, cancel := a.e.waiting(ctx)
	defer cancel()
	return a.e.outbox.Wait(ctx, a.dr.q.req.Who)
}

// overtook waits for archives of the conversation that are under way, and reports whether there were
// any, or one has ended since the conversation was looked at. A pour must know all of it, and that this
// request is not the same again.
func (a *attempt) overtook(ctx context.Context) bool {
	if a.awaited(ctx) {
		return true
	}
	ctx, cancel := a.e.optional(ctx)
	defer cancel()
	l := lineage.Best(a.e.finder.Cache.From(a.dr.q.req.Who), a.dr.q.req.Prompt)
	switch {
	case a.dr.q.match.Stored == nil:
		return l != nil
	case l != nil && l.SharedWhole(a.dr.q.req.Prompt) > a.dr.q.match.Known():
		return true
	case a.dr.q.match.Relation == lineage.Forks: // wherever its parent has gone since
		return false
	case a.dr.q.match.Stored.State() != cmp.Or(a.dr.q.match.Actual, a.dr.q.match.State):
		return true
	}
	v, err := a.e.store.Version(ctx, a.dr.q.match.Stored.Key) // its archive may have known the conversation by another reading
	return err == nil && v != a.dr.q.match.State.Version
}

// firstSight shrinks results that arrive for the first time: those after the last message of the
// assistant, which nothing was written on top of. What was seen before stays as it was, and so does what there
// is no time for.
func (a *attempt) firstSight(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.e.opts.OptionalTimeout)
	defer cancel()
	last := len(a.dr.view.Messages) - 1
	for last >= 0 && a.dr.view.Messages[last].Role != decant.RoleAssistant {
		last--
	}
	if last < 0 || last == len(a.dr.view.Messages)-1 {
		return nil
	}
	var ds []decant.Decision
	for _, d := range policy.FirstSight(ctx, a.dr.view.With(a.dr.view.Messages[last:]), a.dr.q.preset, a.dr.q.est) {
		if a.isNew(d.Target.Ref) {
			ds = append(ds, d)
		}
	}
	return a.dr.add(ds)
}

// isNew reports whether the block with a reference is not in the store yet.
func (a *attempt) isNew(ref decant.Ref) bool {
	if a.dr.q.match.Stored == nil {
		return true
	}
	for i := len(a.dr.q.match.Entries) - 1; i >= 0 && a.dr.q.match.Entries[i] < 0; i-- {
		if a.dr.q.refOf(i) == ref {
			return true
		}
	}
	return false
}

// repeatPins repeats what was pinned after it had been cleared, in requests that bring something new.
func (a *attempt) repeatPins() error {
	if a.dr.q.match.Repeats() {
		return nil
	}
	return a.dr.add(policy.RepeatPins(a.dr.view, policy.EarlyPour{Counter: a.dr.q.est, Transcript: a.dr.q.refs.Conv, Made: slices.Concat(a.dr.inForce, a.dr.made)}))
}
