package engine

import (
	"context"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// budgets returns those that a request falls under: the engine's, then its own.
func (e *Engine) budgets(req *Request) []budget.Budget {
	if len(req.Budgets) == 0 {
		return e.opts.Budgets
	}
	return slices.Concat(e.opts.Budgets, req.Budgets)
}

// reserve holds back what a prepared request may cost at most. It returns a *budget.Error when a budget
// does not have that much left.
func (e *Engine) reserve(ctx context.Context, p *Prepared) error {
	if p.ticket == nil || len(e.budgets(p.ticket.req)) == 0 || p.ticket.dr.Query.Request.Count || e.mode(p.ticket.req) == Observe {
		return nil
	}
	r := e.reservation(p.ticket.req, p.ticket.dr, p.Conversation)
	if err := e.holdBack(ctx, r); err != nil {
		return err
	}
	p.held = r
	return nil
}

// reservation returns what the request may cost at most: all of it written to the cache, if it asks for that,
// and as long an answer as it asks for.
func (e *Engine) reservation(req *Request, dr *draft.Draft, conversation string) *budget.Reservation {
	u := uncached(dr.Query.Refs.Conv, dr.Size(dr.View))
	return &budget.Reservation{
		Tenant: req.Tenant, Conversation: conversation, Budgets: e.budgets(req), Own: len(req.Budgets),
		Most: budget.Amount{Tokens: u.Context(), Money: money(dr, u, cost.Terms{At: dr.Query.Env.Now()})},
	}
}

// holdBack makes a reservation. When only other requests under way stand in its way it waits for them to end, as long
// as optional work may take.
func (e *Engine) holdBack(ctx context.Context, r *budget.Reservation) error {
	patience, cancel := e.waiting(e.patient(ctx, draft.Demand{}))
	defer cancel()
	for {
		ended, err := e.purse.Hold(ctx, r)
		if ended == nil {
			return err
		}
		if !e.settles(patience, ended) {
			return err
		}
	}
}

// settles waits for the end of a reservation, and reports false when the context ends before. A request
// that was answered is settled when it is archived, so archives do not wait for this one.
func (e *Engine) settles(ctx context.Context, ended <-chan struct{}) bool {
	e.outbox.Flush()
	e.outbox.Leave()
	defer e.outbox.Enter()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// uncached is the usage of a request with a prompt of n tokens of which nothing is read from the cache, and with as
// long an answer as it asks for. All of the prompt is written to the cache, if the request asks for that.
func uncached(c *decant.Conversation, n int) decant.Usage {
	u := decant.Usage{CacheWrite: n, Output: c.MaxOutput}
	switch life := cost.LongestLife(c); {
	case life == 0:
		u.Input, u.CacheWrite = n, 0
	case life > 5*time.Minute:
		u.Write1h = n
	}
	return u
}

// tighten makes pours come earlier and go deeper when a budget would nearly be spent with the request, unless the
// fixed part leaves no room for that.
func (a *attempt) tighten(ctx context.Context) {
	if len(a.e.budgets(a.req)) == 0 {
		return
	}
	id := ""
	if a.dr.Query.Match.Stored != nil {
		id = a.dr.Query.Match.Stored.Key.ID
	}
	if !a.e.purse.Tight(ctx, a.e.reservation(a.req, a.dr, id)) {
		return
	}
	p := thriftiest(a.dr.Query.Preset, a.dr.Query.Model.Window)
	if l, err := policy.LimitsFor(a.dr.Query.Model, p, a.dr.Query.Fixed, a.dr.Query.Refs.Conv.MaxOutput); err == nil {
		a.dr.Query.Preset, a.dr.Query.Limits, a.dr.Query.Pressed = p, l, true
	}
}

// pressing returns the thrift with which a budget that is nearly spent is stretched.
func pressing() preset.Thrift { return preset.Thrift{Level: "high", Patience: 0.5, Keep: 1} }

// thriftiest returns the preset that is used when a budget is nearly spent: it pours at half the size,
// and for money as early as any level does, whether or not that is permitted otherwise.
func thriftiest(p *preset.Preset, window int) *preset.Preset {
	out := *p
	out.Thrift = pressing()
	if half := window / 2; out.Trigger.Tokens == 0 || out.Trigger.Tokens > half {
		out.Trigger.Tokens = half
	}
	return &out
}
