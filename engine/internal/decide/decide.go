package decide

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/patience"
	"github.com/decantdev/decant/engine/internal/pour"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// A Decider makes the decisions of requests, by what a store and other requests have come to.
type Decider struct {
	Store    Reader
	Cache    *lineage.Cache
	Wait     func(context.Context, lineage.Start) bool // for archives of a conversation that are under way; reports whether there were any
	Patience *patience.Patience
	Purse    *budget.Purse
}

// A Reader is what it takes of a store to decide.
type Reader interface {
	store.Matcher
	store.Loader
	store.Log
}

// Decide makes the decisions of a draft: first what its request brings for the first time, then, if it is due, the pour.
// It reports whether the conversation must be looked at anew first. The error says what was due and could not be done;
// the view stays legal.
func (d *Decider) Decide(ctx context.Context, dr *draft.Draft) (behind bool, fault error) {
	return (&attempt{d, dr}).decide(ctx)
}

// An attempt is the decisions of one draft in the making.
type attempt struct {
	by *Decider
	dr *draft.Draft
}

func (a *attempt) decide(ctx context.Context) (behind bool, fault error) {
	if err := a.arrive(ctx); err != nil {
		return false, err
	}
	a.dr.Outcome.Before = a.dr.Size(a.dr.View)
	a.dr.Outcome.After = a.dr.Outcome.Before
	l, err := policy.LimitsFor(a.dr.Query.Model, a.dr.Query.Preset, a.dr.Query.Fixed, a.dr.Query.Refs.Conv.MaxOutput)
	a.dr.Query.Limits = l
	if err != nil {
		return false, err
	}
	a.tighten(ctx)
	if a.dr.Query.Demand.Reason == "" && a.dr.Unsure() && a.awaited(ctx) { // what the provider has reported since
		return true, nil
	}
	if done, err := a.yield(ctx); done || err != nil {
		return false, err
	}
	p := &pour.Pour{Draft: a.dr}
	reason := a.dr.Query.Demand.Reason
	if reason == "" && (!a.dr.Query.Match.Repeats() || a.dr.Query.Demand.Unedit) {
		reason = policy.Due(p.Situation())
	}
	switch {
	case reason == "":
		return false, nil
	case a.dr.Query.Demand.Reason == "" && a.overtook(ctx):
		return true, nil
	}
	return false, p.Make(ctx, reason)
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
	ctx, cancel := a.by.Patience.Waiting(ctx)
	defer cancel()
	return a.by.Wait(ctx, a.dr.Query.Request.Who)
}

// overtook waits for archives of the conversation that are under way, and reports whether there were
// any, or one has ended since the conversation was looked at. A pour must know all of it, and that this
// request is not the same again.
func (a *attempt) overtook(ctx context.Context) bool {
	if a.awaited(ctx) {
		return true
	}
	ctx, cancel := a.by.Patience.Optional(ctx)
	defer cancel()
	l := lineage.Best(a.by.Cache.From(a.dr.Query.Request.Who), a.dr.Query.Request.Prompt)
	switch {
	case a.dr.Query.Match.Stored == nil:
		return l != nil
	case l != nil && l.SharedWhole(a.dr.Query.Request.Prompt) > a.dr.Query.Match.Known():
		return true
	case a.dr.Query.Match.Relation == lineage.Forks: // wherever its parent has gone since
		return false
	case a.dr.Query.Match.Stored.State() != cmp.Or(a.dr.Query.Match.Actual, a.dr.Query.Match.State):
		return true
	}
	v, err := a.by.Store.Version(ctx, a.dr.Query.Match.Stored.Key) // its archive may have known the conversation by another reading
	return err == nil && v != a.dr.Query.Match.State.Version
}

// firstSight shrinks results that arrive for the first time: those after the last message of the
// assistant, which nothing was written on top of. What was seen before stays as it was, and so does what there
// is no time for.
func (a *attempt) firstSight(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.dr.Query.Env.OptionalTimeout)
	defer cancel()
	last := len(a.dr.View.Messages) - 1
	for last >= 0 && a.dr.View.Messages[last].Role != decant.RoleAssistant {
		last--
	}
	if last < 0 || last == len(a.dr.View.Messages)-1 {
		return nil
	}
	var ds []decant.Decision
	for _, d := range policy.FirstSight(ctx, a.dr.View.With(a.dr.View.Messages[last:]), a.dr.Query.Preset, a.dr.Query.Estimator) {
		if a.isNew(d.Target.Ref) {
			ds = append(ds, d)
		}
	}
	return a.dr.Add(ds)
}

// isNew reports whether the block with a reference is not in the store yet.
func (a *attempt) isNew(ref decant.Ref) bool {
	if a.dr.Query.Match.Stored == nil {
		return true
	}
	for i := len(a.dr.Query.Match.Entries) - 1; i >= 0 && a.dr.Query.Match.Entries[i] < 0; i-- {
		if a.dr.Query.RefOf(i) == ref {
			return true
		}
	}
	return false
}

// repeatPins repeats what was pinned after it had been cleared, in requests that bring something new.
func (a *attempt) repeatPins() error {
	if a.dr.Query.Match.Repeats() {
		return nil
	}
	return a.dr.Add(policy.RepeatPins(a.dr.View, policy.EarlyPour{Counter: a.dr.Query.Estimator, Transcript: a.dr.Query.Refs.Conv, Made: slices.Concat(a.dr.InForce, a.dr.Made)}))
}
