package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/store"
)

// booked reads what was spent within the scope of each budget. Reservations that end meanwhile count at their full
// amount, and a request that is booked and released at that moment counts twice: never not at all. A sum that cannot
// be read is the one that was read last: a store that fails neither stops an agent nor opens a budget that is known
// to be spent.
func (e *Engine) booked(ctx context.Context, budgets []Budget, tenant, conversation string) ([]amount, error) {
	var errs []error
	sums := make([]amount, len(budgets))
	for i := range sums {
		b := &budgets[i]
		begun := e.purse.look(b.scope(tenant, conversation))
		sum, err := e.bookedPer(ctx, b.Per, tenant, conversation)
		if err != nil {
			errs = append(errs, fmt.Errorf("read what was spent: %w", err))
		}
		sums[i] = e.purse.looked(begun, sum, e.opts.Now(), err != nil)
	}
	return sums, errors.Join(errs...)
}

// bookedPer returns what was spent within one scope. A conversation that is not stored yet has spent nothing.
func (e *Engine) bookedPer(ctx context.Context, per, tenant, conversation string) (sum amount, err error) {
	today := e.opts.Now().UTC().Truncate(24 * time.Hour)
	first := today
	switch per {
	case "conversation":
		if conversation == "" {
			return sum, nil
		}
		return e.spent(ctx, store.SpendQuery{Tenant: tenant, Conversation: conversation})
	case "month":
		first = today.AddDate(0, 0, 1-today.Day())
	case "tenant":
		first = time.Time{}
	}
	recent := today.AddDate(0, 0, -1) // answers that end at midnight may still be booked for it
	if recent.Before(first) {
		recent = first
	} else if sum, err = e.before(ctx, tenant, first, recent); err != nil {
		return sum, err
	}
	now, err := e.spent(ctx, store.SpendQuery{Tenant: tenant, Since: recent})
	return sum.plus(now), err
}

// before returns what a tenant has spent from one day to another that has passed. It no longer changes, so it is
// read once a day.
func (e *Engine) before(ctx context.Context, tenant string, first, day time.Time) (amount, error) {
	if !first.Before(day) {
		return amount{}, nil
	}
	key := fmt.Sprint(tenant, "\x00", first.Unix(), " ", day.Unix())
	if sum, ok := e.purse.since(key); ok {
		return sum, nil
	}
	sum, err := e.spent(ctx, store.SpendQuery{Tenant: tenant, Since: first, Until: day})
	if err == nil {
		e.purse.keep(key, sum)
	}
	return sum, err
}

func (e *Engine) spent(ctx context.Context, q store.SpendQuery) (amount, error) {
	sum, err := e.store.Spent(ctx, q)
	return amount{sum.Tokens, sum.Cost}, err
}
