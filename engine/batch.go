package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/wire"
)

// A BatchRequest is a batch of requests for messages that the provider answers later, at a lower price.
type BatchRequest struct {
	Tenant  string
	Budgets []budget.Budget // that it falls under besides the engine's
	Betas   []string
	Items   []BatchItem
}

// A BatchItem is one request of a batch.
type BatchItem struct {
	ID     string // the client's own
	Params []byte // body of a request for messages
}

// A Batch is a batch for which money is held back.
type Batch struct {
	e      *Engine
	held   *budget.Reservation
	spends map[string]*store.Spend
	now    time.Time
}

// PrepareBatch holds back what a batch may cost at most: each prompt as if nothing of it were read from the cache, and
// as long an answer as it asks for, at the price of batches. A batch that does not fit a budget is a *budget.Error, one
// that has a request of which nobody can say what it may cost an *UnmeteredError. What is returned must be booked or
// dropped.
func (e *Engine) PrepareBatch(ctx context.Context, req *BatchRequest) (*Batch, error) {
	b := &Batch{e: e, spends: map[string]*store.Spend{}, now: e.opts.Now()}
	b.held = &budget.Reservation{Tenant: req.Tenant, Budgets: slices.Concat(e.opts.Budgets, req.Budgets), Own: len(req.Budgets)}
	for i := range req.Items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := b.add(&req.Items[i], req.Betas)
		if err != nil {
			return nil, &UnmeteredError{fmt.Errorf("requests[%d] (%.64q): %w", i, req.Items[i].ID, err)}
		}
		b.held.Most = b.held.Most.Plus(n)
	}
	if err := e.holdBack(ctx, b.held); err != nil {
		return nil, err
	}
	return b, nil
}

// add adds what one request may cost at most.
func (b *Batch) add(item *BatchItem, betas []string) (budget.Amount, error) {
	doc, err := wire.ParseAs(wire.Anthropic, item.Params)
	if err != nil {
		return budget.Amount{}, err
	}
	c := doc.Conversation
	switch {
	case c.Model == "":
		return budget.Amount{}, errors.New("no model")
	case c.MaxOutput <= 0:
		return budget.Amount{}, errors.New("max_tokens is missing, or not more than 0")
	}
	m := b.e.model(c.Model, 0, betas)
	u := draft.Uncached(c, b.e.sizes.For(m).Conversation(c).Total())
	return b.e.batched(b.spends, m.ID, betas, u, b.now), nil
}

// batched adds the usage of a request of a batch to what its model's requests come to, and returns what it costs. Where
// it is not known what a batch costs it costs what any request does.
func (e *Engine) batched(spends map[string]*store.Spend, model string, betas []string, u decant.Usage, now time.Time) budget.Amount {
	m := e.model(model, 0, betas)
	n, _ := cost.Billionths(m, u, cost.Terms{At: now, Batch: m.Batch > 0})
	s := spends[m.ID]
	if s == nil {
		s = &store.Spend{Time: now.UTC(), Model: m.ID}
		spends[m.ID] = s
	}
	s.Usage, s.Cost = s.Usage.Add(u), s.Cost+store.Money(n)
	return budget.Amount{Tokens: u.Context(), Money: store.Money(n)}
}

// Drop ends a batch that the provider has not taken.
func (b *Batch) Drop() { b.e.purse.Release(b.held) }

// Book books a batch that the provider has taken, or may have, under the id that it gave it: what it may cost at most,
// until it is settled. It returns at once; an error goes to Options.Logger.
func (b *Batch) Book(id string) {
	b.e.bookBatch(store.Key{Tenant: b.held.Tenant, ID: id}, b.spends, func() { b.e.purse.Release(b.held) })
}

// bookBatch stores what the requests of a batch come to, by model, in place of what was stored before.
func (e *Engine) bookBatch(k store.Key, spends map[string]*store.Spend, done func()) {
	e.background(func(ctx context.Context) {
		defer done()
		var list []store.Spend
		for model, s := range spends {
			s.ID, s.Without, s.Bare = "batch "+k.ID+" "+model, s.Usage, s.Cost
			list = append(list, *s)
		}
		if err := e.store.Book(ctx, k, list); err != nil {
			e.opts.Logger.Error("book batch", "batch", k.ID, "error", err)
		}
	})
}
