package engine

import (
	"context"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// A Settlement puts what a batch did cost in the place of what it was booked at.
type Settlement struct {
	key store.Key
	tab tab // by the prices of the day on which it was booked
}

// BatchBooked returns the settlement of a batch that is booked, nil when none of that id is, or when that cannot be
// found out.
func (e *Engine) BatchBooked(ctx context.Context, tenant, id string) *Settlement {
	if e.opts.Mode == Off {
		return nil
	}
	ctx, cancel := e.patience.Optional(ctx)
	defer cancel()
	totals, err := e.store.Spending(ctx, store.SpendQuery{Tenant: tenant, Conversation: id})
	if err != nil || len(totals) == 0 {
		e.note(err)
		return nil
	}
	s := &Settlement{store.Key{Tenant: tenant, ID: id}, tab{e, e.opts.Now(), map[string]*store.Spend{}}}
	for _, t := range totals {
		if day, err := time.Parse(time.DateOnly, t.Day); err == nil {
			s.tab.day = day
		}
	}
	for _, t := range totals { // what none of its requests came to is nothing
		s.tab.spends[t.Model] = &store.Spend{Time: s.tab.day, Model: t.Model}
	}
	return s
}

// Add adds what one request of the batch has used.
func (s *Settlement) Add(model string, u decant.Usage) {
	s.tab.add(model, nil, u)
}

// Settle books what was added in place of what was booked, also when that was done before. It returns at once; an
// error goes to Options.Logger.
func (s *Settlement) Settle() { s.tab.book(s.key, func() {}) }
