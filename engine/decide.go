package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/policy"
)

// decide makes the decisions of this request: first what it brings for the first time, then, if it is due, the pour. It
// reports whether the conversation must be looked at anew first. The error says what was due and could not be done; the
// view stays legal.
func (dr *draft) decide(ctx context.Context) (behind bool, fault error) {
	if err := dr.arrive(ctx); err != nil {
		return false, err
	}
	dr.report.Before = dr.size(dr.view)
	dr.report.After = dr.report.Before
	l, err := policy.LimitsFor(dr.q.model, dr.q.preset, dr.q.fixed, dr.q.refs.Conv.MaxOutput)
	dr.q.limits = l
	if err != nil {
		return false, err
	}
	dr.tighten(ctx)
	if dr.q.must == "" && dr.unsure() && dr.q.awaited(ctx) { // what the provider has reported since
		return true, nil
	}
	if done, err := dr.yield(ctx); done || err != nil {
		return false, err
	}
	reason := dr.q.must
	if reason == "" && (!dr.q.match.Repeats() || dr.q.demand.unedit) {
		reason = policy.Due(dr.situation())
	}
	switch {
	case reason == "":
		return false, nil
	case dr.q.must == "" && dr.q.overtook(ctx):
		return true, nil
	}
	return false, dr.pour(ctx, reason)
}

// arrive makes the decisions that do not depend on the size of the request.
func (dr *draft) arrive(ctx context.Context) error {
	if err := dr.inherit(ctx); err != nil {
		return err
	}
	if err := dr.giveUpEditing(ctx); err != nil {
		return err
	}
	if err := dr.firstSight(ctx); err != nil {
		return fmt.Errorf("first sight: %w", err)
	}
	if err := dr.repeatPins(); err != nil {
		return fmt.Errorf("repeat pins: %w", err)
	}
	return nil
}

// awaited waits for archives of the conversation that are under way, and reports whether there were any.
func (q *query) awaited(ctx context.Context) bool {
	ctx, cancel := q.e.waiting(ctx)
	defer cancel()
	return q.e.outbox.Wait(ctx, q.who)
}

// overtook waits for archives of the conversation that are under way, and reports whether there were
// any, or one has ended since the conversation was looked at. A pour must know all of it, and that this
// request is not the same again.
func (q *query) overtook(ctx context.Context) bool {
	if q.awaited(ctx) {
		return true
	}
	ctx, cancel := q.e.optional(ctx)
	defer cancel()
	l := lineage.Best(q.e.finder.Cache.From(q.who), q.r)
	switch {
	case q.match.Stored == nil:
		return l != nil
	case l != nil && l.SharedWhole(q.r) > q.match.Known():
		return true
	case q.match.Relation == lineage.Forks: // wherever its parent has gone since
		return false
	case q.match.Stored.State() != cmp.Or(q.match.Actual, q.match.State):
		return true
	}
	v, err := q.e.store.Version(ctx, q.match.Stored.Key) // its archive may have known the conversation by another reading
	return err == nil && v != q.match.State.Version
}

// firstSight shrinks results that arrive for the first time: those after the last message of the
// assistant, which nothing was written on top of. What was seen before stays as it was, and so does what there
// is no time for.
func (dr *draft) firstSight(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dr.q.e.opts.OptionalTimeout)
	defer cancel()
	last := len(dr.view.Messages) - 1
	for last >= 0 && dr.view.Messages[last].Role != decant.RoleAssistant {
		last--
	}
	if last < 0 || last == len(dr.view.Messages)-1 {
		return nil
	}
	var ds []decant.Decision
	for _, d := range policy.FirstSight(ctx, dr.view.With(dr.view.Messages[last:]), dr.q.preset, dr.q.est) {
		if dr.q.isNew(d.Target.Ref) {
			ds = append(ds, d)
		}
	}
	return dr.add(ds)
}

// isNew reports whether the block with a reference is not in the store yet.
func (q *query) isNew(ref decant.Ref) bool {
	if q.match.Stored == nil {
		return true
	}
	for i := len(q.match.Entries) - 1; i >= 0 && q.match.Entries[i] < 0; i-- {
		if q.refOf(i) == ref {
			return true
		}
	}
	return false
}

// refOf returns the transcript reference of the i-th block of the spine.
func (q *query) refOf(i int) decant.Ref {
	at := q.r.At(i)
	if q.refs.Same {
		return at.Ref
	}
	return q.refs.Conv.Messages[at.Message].Blocks[at.Ref.Block].Ref
}
