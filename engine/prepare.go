package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/store"
)

// Prepare returns what to send in place of a request.
//
// It finds the conversation, replays what was decided about it, decides about what is new, and if
// the window demands it pours; what it decides is committed before it returns. If nothing needs to
// change, Prepared.Body is req.Body itself.
//
// When a step of its own fails it falls back: to the committed decisions alone, then to the
// client's own bytes. Prepared.Fault says what failed. Only when even that cannot be right it
// returns an error, which wraps ErrUnavailable. A request that exceeds a budget is a *budget.Error, one
// that cannot be read where a budget applies an *UnmeteredError.
func (e *Engine) Prepare(ctx context.Context, req *Request) (*Prepared, error) {
	if e.opts.mode(req) == Off {
		return &Prepared{Body: req.Body}, nil
	}
	e.queue.Enter()
	defer e.queue.Leave()
	d := dialectOf(req.Dialect)
	req = e.whole(ctx, d, req)
	key := match.KeyOf(d, req.Tenant, req.Session, req.Body, e.seed)
	req, marks := marked(e, d, req)
	var was *match.Memory
	if !req.elsewhere {
		was = e.recent.Find(key, req.Body)
	}
	r, err := match.Read(d, req.Body, e.seed, was)
	if err != nil {
		return unread(e, req, r, err)
	}
	if !req.Count {
		defer func() { e.recent.Put(key, r.Remember(), was) }()
	}
	a := e.arrive(req, r)
	a.marks = marks
	return a.send(ctx)
}

// marked returns a request with the cache markers that it should have.
func marked(e *Engine, d dialect.Dialect, req *Request) (*Request, *plan.AddedMarkers) {
	by, ok := d.(dialect.Marker)
	if !ok || e.autoCache == nil || req.Count || e.opts.mode(req) != Manage {
		return req, nil
	}
	with := *req
	body, added := e.autoCache.Add(by, req.Tenant, req.Session, req.Body)
	with.Body = body
	return &with, added
}

// unread returns what becomes of a request that cannot be read. Nothing of ours has failed, and the provider knows
// best what is wrong with it; but it may read what we cannot, so that no budget lets it pass. Of one whose conversation
// the provider has, r is the rest: what it costs is booked apart from any conversation.
func unread(e *Engine, req *Request, r *match.Prompt, err error) (*Prepared, error) {
	if len(e.budgets(req.Budgets)) > 0 && e.opts.mode(req) == Manage && !req.Count {
		return nil, &UnmeteredError{err}
	}
	p := &Prepared{Body: req.Body}
	if r != nil && !req.Count {
		if dr, err := e.arrive(req, r).apart(); err == nil {
			p.ending = &ending{apart: dr}
		}
	}
	return p, nil
}

// send prepares the request, and holds back what it may cost before it leaves.
func (a *incoming) send(ctx context.Context) (*Prepared, error) {
	p, err := a.prepare(ctx, plan.Demand{})
	if err != nil {
		if p, err = a.fallBack(err); err != nil {
			return nil, err
		}
	}
	p.incoming, p.ending = a, new(ending)
	if !a.req.Count && !a.observed() && len(a.e.budgets(a.req.Budgets)) > 0 {
		if err := a.hold(ctx, p); err != nil {
			return nil, err
		}
	}
	a.e.leaves(p)
	return p, nil
}

// leaves notes that a prepared request is on its way, in place of the form that was before.
func (e *Engine) leaves(p *Prepared) {
	if p.out == nil || p.incoming.req.Count {
		return
	}
	if f := e.flights.Enter(p.out.Match, p.out.Stored(), e.opts.Now()); f != nil {
		e.flights.Leave(p.ending.flight)
		p.ending.flight = f
	}
}

// try is the way of a request: match, replay, decide, render, commit. It is rendered before it is committed, so that
// nothing is decided for good that cannot be written. It reports whether the conversation must be looked at anew before
// it is poured: an earlier request has been archived since, or was about to be. One that others have moved on meanwhile
// is store.ErrConflict.
func (a *incoming) try(ctx context.Context, force plan.Demand) (p *Prepared, behind bool, err error) {
	m, err := a.match(ctx)
	if err != nil {
		return nil, false, err
	}
	dr, err := a.replay(m, force)
	if err != nil {
		return nil, false, err
	}
	if a.observed() {
		return (&observer{a, book.Of(dr)}).plan(ctx)
	}
	behind, fault := a.e.decider.Decide(ctx, dr)
	if behind {
		return nil, true, nil
	}
	body, err := dr.Render()
	if err != nil {
		return nil, false, err
	}
	out := book.Of(dr)
	out.Look()
	if err := a.e.ledger.Commit(ctx, out); err != nil {
		return nil, false, err
	}
	if err := a.e.ledger.Announce(ctx, out); err != nil { // others will think that it was given up; the answer finds its place all the same
		a.e.logError(err)
	}
	p = preparedOf(out, body)
	p.Fault = fault
	notice(a.e, p)
	return p, false, nil
}

// prepare makes one attempt after the other until no other request comes in between, or the request has been kept
// waiting for as long as it may. A panic in it is a fault like any other: the client's request goes out all the same.
func (a *incoming) prepare(ctx context.Context, force plan.Demand) (p *Prepared, err error) {
	defer a.e.caught(&err)
	ctx = a.e.deadlines.Begin(ctx, force.Again)
	for n := range maxTries {
		p, behind, err := a.try(ctx, force)
		switch {
		case behind && a.e.deadlines.Expired(ctx):
			a.e.deadlines.MarkBusy()
			return nil, fmt.Errorf("archives of the conversation have not ended in time (tried %d times): %w", n+1, store.ErrBusy)
		case !behind && !errors.Is(err, store.ErrConflict):
			return p, err
		}
	}
	return nil, fmt.Errorf("commit decisions: given up after %d tries: %w", maxTries, store.ErrConflict)
}

// dialectOf returns a dialect, and that of the Messages API for none.
func dialectOf(d dialect.Dialect) dialect.Dialect {
	if d == nil {
		return index.Default
	}
	return d
}
