package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/engine/internal/plan"
	"github.com/decantdev/decant/store"
)

// A BatchRequest is a batch of requests for messages that the provider answers later, at a lower price.
type BatchRequest struct {
	Dialect dialect.Dialect // of its requests; nil: the Messages API
	Tenant  string
	Budgets []budget.Budget // that it falls under besides the engine's
	Betas   []string
	Items   []dialect.BatchItem
}

// A Batch is a batch for which money is held back.
type Batch struct {
	tab  tab
	held *budget.Reservation
}

// PrepareBatch holds back what a batch may cost at most: each prompt as if nothing of it were read from the cache, and
// as long an answer as it asks for, at the price of batches. A batch that does not fit a budget is a *budget.Error, one
// that has a request of which nobody can say what it may cost an *UnmeteredError. What is returned must be booked or
// dropped.
func (e *Engine) PrepareBatch(ctx context.Context, req *BatchRequest) (*Batch, error) {
	b := &Batch{tab: tab{e, e.opts.Now(), map[string]*store.Spend{}}}
	b.held = &budget.Reservation{Tenant: req.Tenant, Budgets: e.budgets(req.Budgets), Own: len(req.Budgets)}
	for i := range req.Items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := b.add(dialectOf(req.Dialect), &req.Items[i], req.Betas)
		if err != nil {
			return nil, &UnmeteredError{fmt.Errorf("requests[%d] (%.64q): %w", i, req.Items[i].ID, err)}
		}
		b.held.Most = b.held.Most.Plus(n)
	}
	if err := e.reserve(ctx, b.held); err != nil {
		return nil, err
	}
	return b, nil
}

// add adds what one request may cost at most.
func (b *Batch) add(d dialect.Dialect, item *dialect.BatchItem, betas []string) (budget.Amount, error) {
	doc, err := d.Parse(item.Params)
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
	m := b.tab.e.model(c.Model, "", 0, betas)
	u := plan.Uncached(c, b.tab.e.sizes.For(m).Conversation(c).Total())
	return b.tab.add(m.ID, betas, u), nil
}

// Drop ends a batch that the provider has not taken: nothing is held back for it any longer.
func (b *Batch) Drop() { b.tab.e.purse.Release(b.held) }

// Book books a batch that the provider has taken, or may have, under the id that it gave it: what it may cost at most,
// until it is settled. It returns at once; an error goes to Options.Logger.
func (b *Batch) Book(id string) {
	b.tab.behind(store.Key{Tenant: b.held.Tenant, ID: id}, b.Drop)
}

// BookNow books as Book does, and returns when that is done: for whoever then settles the batch. The provider has the
// batch, so it is booked also when the context has ended.
func (b *Batch) BookNow(ctx context.Context, id string) error {
	defer b.Drop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.tab.e.opts.Timeouts.Required)
	defer cancel()
	return b.tab.put(ctx, store.Key{Tenant: b.held.Tenant, ID: id})
}
