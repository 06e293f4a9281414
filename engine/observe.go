package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An observer plans what would be done about a request that is only observed.
type observer struct {
	*incoming
	out *book.Outgoing
}

// plan plans what would be done about a request and leaves it as it is. Like incoming.try it reports whether the
// conversation must be looked at anew first.
func (o *observer) plan(ctx context.Context) (p *Prepared, behind bool, err error) {
	x, fault := o.shadow(ctx)
	if fault == nil {
		if behind, fault = o.e.decider.Decide(ctx, x); behind {
			return nil, true, nil
		}
	}
	o.out.LeaveAlone()
	p = preparedOf(o.out, o.out.Body)
	if x == nil { // what was planned before cannot be read
		p.Fault = fault
		return p, false, nil
	}
	if fault != nil {
		x.Outcome.Route = "none: " + fault.Error()
	}
	o.out.Trial = book.Planned(ctx, x)
	o.notePlan()
	t := o.out.Trial
	p.Report.Plan = x.Outcome.Plan
	p.Report.Planned = &Planned{Reason: t.Reason, Route: t.Route, Tokens: t.Tokens, Decisions: len(t.Made), Risk: t.Risk}
	return p, false, nil
}

// shadow returns a draft for the same request under the decisions that were planned before.
func (o *observer) shadow(ctx context.Context) (*plan.Draft, error) {
	dr := o.out.Draft
	p := *dr.Match
	if p.Stored != nil {
		planned, err := o.plannedFor(ctx, p.Stored, p.State)
		if err != nil {
			return nil, err
		}
		s := *p.State
		s.Decisions = slices.Concat(s.Decisions, planned)
		p.State, p.Actual, p.Branch = &s, p.State, nil
	}
	return o.replay(&p, dr.Demand)
}

// plannedFor returns the decisions that were planned for the observed requests of a conversation.
func (o *observer) plannedFor(ctx context.Context, l *match.Stored, s *store.State) ([]decant.Decision, error) {
	n := plan.CachedOf(l)
	if ds, read := n.Planned(); read {
		return ds, nil
	}
	var all []decant.Decision
	rs, err := o.e.store.Requests(ctx, s.Key)
	if err != nil {
		return nil, fmt.Errorf("read what was planned for %s: %w", s.ID, err)
	}
	for i := range rs {
		ds, err := o.readPlan(ctx, s.Tenant, rs[i].Planned)
		if err != nil {
			return nil, fmt.Errorf("read what was planned for %s: %w", s.ID, err)
		}
		all = append(all, ds...)
	}
	return n.SetPlanned(all), nil
}

// readPlan returns the decisions that were planned for one request. Those that were planned before decisions
// named their pour name none.
func (o *observer) readPlan(ctx context.Context, tenant string, p *store.Planned) (ds []decant.Decision, err error) {
	if p == nil || p.Decisions.IsZero() {
		return nil, nil
	}
	blobs, err := o.e.store.Blobs(ctx, tenant, p.Decisions)
	if err != nil {
		return nil, err
	}
	return ds, json.Unmarshal(blobs[0], &ds, jsontext.AllowInvalidUTF8(true))
}

// notePlan notes what was planned for the request. What others have planned meanwhile stands. A
// request that has left the conversation, or has none yet, has its plan noted in one of its own when it is archived.
func (o *observer) notePlan() {
	m := o.out.Match
	if m.Stored == nil || o.out.Starts() {
		return
	}
	if m.Relation != match.Returns {
		o.out.Trial.Noted = plan.CachedOf(m.Stored).ExtendPlanned(o.out.Trial.Before-len(m.State.Decisions), o.out.Trial.Made)
	}
}
