package purse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant/store"
)

// spent reads what was spent within the scope of each budget. Reservations that end meanwhile count at their full
// amount, and a request that is booked and released at that moment counts twice: never not at all. A sum that cannot
// be read is the one that was read last: a store that fails neither stops an agent nor opens a budget that is known
// to be spent.
func (p *Purse) spent(ctx context.Context, r *Reservation) ([]Amount, error) {
	var errs []error
	sums := make([]Amount, len(r.Budgets))
	for i := range sums {
		b := &r.Budgets[i]
		begun := p.memory.look(scopeOf(b, r))
		sum, err := p.spentPer(ctx, b.Per, r)
		if err != nil {
			errs = append(errs, fmt.Errorf("read what was spent: %w", err))
		}
		sums[i] = p.memory.looked(begun, sum, p.now(), err != nil)
	}
	return sums, errors.Join(errs...)
}

// spentPer returns what was spent within one scope. A conversation that is not stored yet has spent nothing.
func (p *Purse) spentPer(ctx context.Context, per string, r *Reservation) (sum Amount, err error) {
	today := p.now().UTC().Truncate(24 * time.Hour)
	first := today
	switch per {
	case "conversation":
		if r.Conversation == "" {
			return sum, nil
		}
		return p.read(ctx, store.SpendQuery{Tenant: r.Tenant, Conversation: r.Conversation})
	case "month":
		first = today.AddDate(0, 0, 1-today.Day())
	case "tenant":
		first = time.Time{}
	}
	recent := today.AddDate(0, 0, -1) // answers that end at midnight may still be booked for it
	if recent.Before(first) {
		recent = first
	} else if sum, err = p.before(ctx, r.Tenant, first, recent); err != nil {
		return sum, err
	}
	now, err := p.read(ctx, store.SpendQuery{Tenant: r.Tenant, Since: recent})
	return sum.Plus(now), err
}

// before returns what a tenant has spent from one day to another that has passed. It no longer changes, so it is
// read once a day.
func (p *Purse) before(ctx context.Context, tenant string, first, day time.Time) (Amount, error) {
	if !first.Before(day) {
		return Amount{}, nil
	}
	key := fmt.Sprint(tenant, "\x00", first.Unix(), " ", day.Unix())
	if sum, ok := p.memory.since(key); ok {
		return sum, nil
	}
	sum, err := p.read(ctx, store.SpendQuery{Tenant: tenant, Since: first, Until: day})
	if err == nil {
		p.memory.keep(key, sum)
	}
	return sum, err
}

func (p *Purse) read(ctx context.Context, q store.SpendQuery) (Amount, error) {
	sum, err := p.store.Spent(ctx, q)
	return Amount{sum.Tokens, sum.Cost}, err
}
