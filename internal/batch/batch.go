// Package batch books batches of requests that the provider answers later, at a lower price.
//
// Before a batch is sent, what it may cost at most is held back against budgets ([Ledger.Prepare]). It is booked at
// that ([Batch.Book]) until what it did cost is known ([Ledger.Booked], [Settlement.Settle]).
package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Ledger books batches. All fields are needed.
type Ledger struct {
	Store  Store
	Logger *slog.Logger
	Now    func() time.Time
	Off    bool // nothing is looked up for requests

	Model      func(id string, betas []string) token.Model
	Uncached   func(*decant.Conversation, token.Model) decant.Usage        // of a request of which nothing is read from the cache
	Budgets    func(own []budget.Budget) []budget.Budget                   // that a request with its own budgets falls under
	Hold       func(context.Context, *purse.Reservation) error             // holds money back
	Release    func(*purse.Reservation)                                    // ends a reservation
	Unmetered  func(error) error                                           // says that it cannot be said what a request may cost
	Optional   func(context.Context) (context.Context, context.CancelFunc) // for what a request can do without
	Background func(func(context.Context))                                 // does work that no request waits for
	Timeout    time.Duration                                               // for what must be done
}

// Store is what a ledger needs of a store.
type Store interface {
	store.Log
	store.Committer
}

// A Request is a batch of requests for messages that the provider answers later, at a lower price.
type Request struct {
	Dialect dialect.Dialect // of its requests; nil: the Messages API
	Tenant  string
	Budgets []budget.Budget // that it falls under besides the engine's
	Betas   []string
	Items   []dialect.BatchItem
}

// A Batch is a batch for which money is held back.
type Batch struct {
	cost batchCost
	held *purse.Reservation
}

// Prepare holds back what a batch may cost at most: each prompt as if nothing of it were read from the cache, and
// as long an answer as it asks for, at the price of batches. A batch that does not fit a budget is a *budget.Error, one
// that has a request of which nobody can say what it may cost an *UnmeteredError. What is returned must be booked or
// dropped.
func (l *Ledger) Prepare(ctx context.Context, req *Request) (*Batch, error) {
	b := &Batch{cost: batchCost{l, l.Now(), map[string]*store.Spend{}}}
	b.held = &purse.Reservation{Tenant: req.Tenant, Budgets: l.Budgets(req.Budgets), Own: len(req.Budgets)}
	for i := range req.Items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := b.add(req.Dialect, &req.Items[i], req.Betas)
		if err != nil {
			return nil, l.Unmetered(fmt.Errorf("requests[%d] (%.64q): %w", i, req.Items[i].ID, err))
		}
		b.held.Most = b.held.Most.Plus(n)
	}
	if err := l.Hold(ctx, b.held); err != nil {
		return nil, err
	}
	return b, nil
}

// add adds what one request may cost at most.
func (b *Batch) add(d dialect.Dialect, item *dialect.BatchItem, betas []string) (purse.Amount, error) {
	doc, err := d.Parse(item.Params)
	if err != nil {
		return purse.Amount{}, err
	}
	c := doc.Conversation
	switch {
	case c.Model == "":
		return purse.Amount{}, errors.New("no model")
	case c.MaxOutput <= 0:
		return purse.Amount{}, errors.New("max_tokens is missing, or not more than 0")
	}
	m := b.cost.ledger.Model(c.Model, betas)
	u := b.cost.ledger.Uncached(c, m)
	return b.cost.add(m.ID, betas, u), nil
}

// Drop ends a batch that the provider has not taken: nothing is held back for it any longer.
func (b *Batch) Drop() { b.cost.ledger.Release(b.held) }

// Book books a batch that the provider has taken, or may have, under the id that it gave it: what it may cost at most,
// until it is settled. It returns at once; an error goes to Options.Logger.
func (b *Batch) Book(id string) {
	b.cost.behind(store.Key{Tenant: b.held.Tenant, ID: id}, b.Drop)
}

// BookNow books as Book does, and returns when that is done: for whoever then settles the batch. The provider has the
// batch, so it is booked also when the context has ended.
func (b *Batch) BookNow(ctx context.Context, id string) error {
	defer b.Drop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.cost.ledger.Timeout)
	defer cancel()
	return b.cost.put(ctx, store.Key{Tenant: b.held.Tenant, ID: id})
}

// A Settlement puts what a batch did cost in the place of what it was booked at.
type Settlement struct {
	key  store.Key
	cost batchCost // by the prices of the day on which it was booked
}

// Booked returns the settlement of a batch that is booked, nil when none of that id is, or when that cannot be
// found out as fast as a request needs it.
func (l *Ledger) Booked(ctx context.Context, tenant, id string) *Settlement {
	if l.Off {
		return nil
	}
	ctx, cancel := l.Optional(ctx)
	defer cancel()
	s, err := l.booked(ctx, tenant, id)
	if err != nil {
		l.Logger.Error("look up a batch", "batch", id, "error", err)
	}
	return s
}

// Unbook books nothing in place of what a batch is booked at, for those whose answers are booked one by one
// (Engine.Finish). That none of that id is booked is no error. It returns when that is done; after an error it can be
// called again.
func (l *Ledger) Unbook(ctx context.Context, tenant, id string) error {
	s, err := l.booked(ctx, tenant, id)
	if s == nil || err != nil {
		return err
	}
	return s.cost.put(ctx, s.key)
}

// booked returns the settlement of a batch, nil when none of that id is booked.
func (l *Ledger) booked(ctx context.Context, tenant, id string) (*Settlement, error) {
	totals, err := l.Store.Spending(ctx, store.SpendQuery{Tenant: tenant, Conversation: id})
	if err != nil {
		return nil, fmt.Errorf("look what batch %s is booked at: %w", id, err)
	}
	if len(totals) == 0 {
		return nil, nil
	}
	s := &Settlement{store.Key{Tenant: tenant, ID: id}, batchCost{l, l.Now(), map[string]*store.Spend{}}}
	for _, t := range totals {
		if day, err := time.Parse(time.DateOnly, t.Day); err == nil {
			s.cost.day = day
		}
	}
	for _, t := range totals { // what none of its requests came to is nothing
		s.cost.spends[t.Model] = &store.Spend{Time: s.cost.day, Model: t.Model}
	}
	return s, nil
}

// Add adds what one request of the batch has used.
func (s *Settlement) Add(model string, u decant.Usage) {
	s.cost.add(model, nil, u)
}

// Settle books what was added in place of what was booked, also when that was done before. It returns at once; an
// error goes to Options.Logger.
func (s *Settlement) Settle() { s.cost.behind(s.key, func() {}) }

// A batchCost is what the requests of a batch come to, by model.
type batchCost struct {
	ledger *Ledger
	day    time.Time // whose prices hold
	spends map[string]*store.Spend
}

// add adds the usage of a request, and returns what it costs. Where it is not known what a batch costs it costs what
// any request does.
func (t *batchCost) add(model string, betas []string, u decant.Usage) purse.Amount {
	m := t.ledger.Model(model, betas)
	n, _ := cost.Billionths(m, u, cost.Terms{At: t.day, Batch: m.Batch > 0})
	s := t.spends[m.ID]
	if s == nil {
		s = &store.Spend{Time: t.day.UTC(), Model: m.ID}
		t.spends[m.ID] = s
	}
	s.Usage, s.Cost = s.Usage.Add(u), s.Cost+store.Money(n)
	return purse.Amount{Tokens: u.Context(), Money: store.Money(n)}
}

// put stores the cost of a batch in place of what was stored before.
func (t *batchCost) put(ctx context.Context, k store.Key) error {
	var list []store.Spend
	for model, s := range t.spends {
		s.ID, s.Without, s.Bare = "batch "+k.ID+" "+model, s.Usage, s.Cost
		list = append(list, *s)
	}
	if err := t.ledger.Store.Book(ctx, k, list); err != nil {
		return fmt.Errorf("book batch %s: %w", k.ID, err)
	}
	return nil
}

// behind puts the cost of a batch while nobody waits, and then calls done.
func (t *batchCost) behind(k store.Key, done func()) {
	t.ledger.Background(func(ctx context.Context) {
		defer done()
		if err := t.put(ctx, k); err != nil {
			t.ledger.Logger.Error("a batch is not booked", "batch", k.ID, "error", err)
		}
	})
}
