package engine

import (
	"context"

	"github.com/decantdev/decant/budget"
)

// reserve holds back what a prepared request may cost at most. It returns a *budget.Error when a budget
// does not have that much left.
func (e *Engine) reserve(ctx context.Context, p *Prepared) error {
	if p.ticket == nil || len(p.req.Budgets)+len(e.opts.Budgets) == 0 || p.req.Count || e.mode(p.req) == Observe {
		return nil
	}
	r := p.ticket.Draft.Reservation(p.Conversation)
	if err := e.holdBack(ctx, r); err != nil {
		return err
	}
	p.held = r
	return nil
}

// holdBack makes a reservation. When only other requests under way stand in its way it waits for them to end, as long
// as optional work may take.
func (e *Engine) holdBack(ctx context.Context, r *budget.Reservation) error {
	patience, cancel := e.patience.Waiting(e.patience.Begin(ctx, false))
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
