package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/store"
)

// budgets returns the budgets that a request falls under: the engine's, then its own.
func (e *Engine) budgets(own []budget.Budget) []budget.Budget {
	if len(own) == 0 {
		return e.opts.Budgets
	}
	return slices.Concat(e.opts.Budgets, own)
}

// hold holds back what a prepared request may cost. A conversation that could not be looked up does not make it free.
func (a *incoming) hold(ctx context.Context, p *Prepared) (err error) {
	if p.out == nil {
		if p.ending.apart, err = a.apart(); err != nil {
			return &UnmeteredError{err}
		}
		p.ending.held = p.ending.apart.Reservation("")
		return a.e.reserve(ctx, p.ending.held)
	}
	held := p.out.Reservation(p.Conversation)
	if err := a.e.reserve(ctx, held); err != nil {
		a.e.archive(p, Response{}) // it never leaves
		return err
	}
	p.ending.held = held
	return nil
}

// bookApart books what a request cost whose conversation could not be looked up, and ends its reservation.
func (e *Engine) bookApart(p *Prepared, res Response) {
	dr, held, now := p.ending.apart, p.ending.held, e.opts.Now().UTC()
	u := p.charged(res).Add(res.Extra)
	if res.Status/100 != 2 || u.Prompt() == 0 {
		e.purse.Release(held)
		return
	}
	e.later(func(ctx context.Context) {
		defer e.purse.Release(held)
		id, err := e.settings.IDs.Next()
		if err == nil {
			price := dr.Price(u, cost.Terms{At: now})
			spends := []store.Spend{{ID: id, Time: now, Model: dr.Model.ID, Usage: u, Without: u, Cost: price, Bare: price}}
			if err = e.store.Book(ctx, store.Key{Tenant: dr.Start.Tenant}, spends); err == nil {
				e.opts.OnBooked(dr.Start.Tenant, spends)
			}
		}
		if err != nil {
			e.opts.Logger.Error("book a request without its conversation", "error", err)
		}
	})
}

// reserve makes a reservation. It returns a *budget.Error when a budget does not have that much left. When only other
// requests under way stand in its way it waits for them to end, as long as optional work may take.
func (e *Engine) reserve(ctx context.Context, r *purse.Reservation) error {
	wait, cancel := e.deadlines.ForStore(e.deadlines.Begin(ctx, false))
	defer cancel()
	for {
		ended, err := e.purse.Hold(ctx, r)
		if ended == nil || !e.awaitEnd(wait, ended) {
			return err
		}
	}
}

// awaitEnd waits for the end of a reservation, and reports false when the context ends before. A request that was
// answered releases its own when it is archived, so archives do not wait for this one.
func (e *Engine) awaitEnd(ctx context.Context, ended <-chan struct{}) bool {
	e.queue.Flush()
	e.queue.Leave()
	defer e.queue.Enter()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// Budgeted reports whether the engine's budgets, or others that a request falls under, limit what it may spend, of
// clients that ask for no other mode.
func (e *Engine) Budgeted(others []budget.Budget) bool {
	return len(e.opts.Budgets)+len(others) > 0 && e.opts.Mode == Manage
}

// Weaker reports whether a mode does less than the one that the engine's options name.
func (e *Engine) Weaker(m Mode) bool {
	order := []Mode{Off, Observe, Manage}
	return m != "" && slices.Index(order, m) < slices.Index(order, e.opts.Mode)
}

// An UnmeteredError says that a budget applies to a request of which it cannot be said what it may cost.
type UnmeteredError struct{ Err error }

// Error says what is wrong with the request.
func (e *UnmeteredError) Error() string {
	return fmt.Sprintf("a budget applies, and the body cannot be read as a request for messages: %v", e.Err)
}

// Unwrap returns what is wrong with the request.
func (e *UnmeteredError) Unwrap() error { return e.Err }
