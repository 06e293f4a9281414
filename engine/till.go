package engine

import (
	"context"
	"slices"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/book"
	"github.com/decantdev/decant/engine/internal/plan"
)

// A till holds back what requests may cost, under the engine's budgets and their own.
type till struct {
	budgets  []budget.Budget
	purse    *budget.Purse
	patience *plan.Deadlines
	outbox   *book.Queue[finished]
}

// of returns the budgets that a request falls under: the engine's, then its own.
func (t *till) of(own []budget.Budget) []budget.Budget {
	if len(own) == 0 {
		return t.budgets
	}
	return slices.Concat(t.budgets, own)
}

// hold makes a reservation. It returns a *budget.Error when a budget does not have that much left. When only other
// requests under way stand in its way it waits for them to end, as long as optional work may take.
func (t *till) hold(ctx context.Context, r *budget.Reservation) error {
	wait, cancel := t.patience.Waiting(t.patience.Begin(ctx, false))
	defer cancel()
	for {
		ended, err := t.purse.Hold(ctx, r)
		if ended == nil {
			return err
		}
		if !t.settles(wait, ended) {
			return err
		}
	}
}

// settles waits for the end of a reservation, and reports false when the context ends before. A request
// that was answered is settled when it is archived, so archives do not wait for this one.
func (t *till) settles(ctx context.Context, ended <-chan struct{}) bool {
	t.outbox.Flush()
	t.outbox.Leave()
	defer t.outbox.Enter()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}
