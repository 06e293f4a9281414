package engine

import (
	"context"
	"fmt"
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
// found out as fast as a request needs it.
func (e *Engine) BatchBooked(ctx context.Context, tenant, id string) *Settlement {
	if e.opts.Mode == Off {
		return nil
	}
	ctx, cancel := e.deadlines.Optional(ctx)
	defer cancel()
	s, err := booked(ctx, e, tenant, id)
	e.note(err)
	return s
}

// UnbookBatch books nothing in place of what a batch is booked at, for those whose answers are booked one by one
// (Engine.Finish). That none of that id is booked is no error. It returns when that is done; after an error it can be
// called again.
func (e *Engine) UnbookBatch(ctx context.Context, tenant, id string) error {
	s, err := booked(ctx, e, tenant, id)
	if s == nil || err != nil {
		return err
	}
	return s.tab.put(ctx, s.key)
}

// booked returns the settlement of a batch, nil when none of that id is booked.
func booked(ctx context.Context, e *Engine, tenant, id string) (*Settlement, error) {
	totals, err := e.store.Spending(ctx, store.SpendQuery{Tenant: tenant, Conversation: id})
	if err != nil {
		return nil, fmt.Errorf("look what batch %s is booked at: %w", id, err)
	}
	if len(totals) == 0 {
		return nil, nil
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
	return s, nil
}

// Add adds what one request of the batch has used.
func (s *Settlement) Add(model string, u decant.Usage) {
	s.tab.add(model, nil, u)
}

// Settle books what was added in place of what was booked, also when that was done before. It returns at once; an
// error goes to Options.Logger.
func (s *Settlement) Settle() { s.tab.behind(s.key, func() {}) }
