package owncalls

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// ErrNoBatches means that the account has no client that makes batches.
var ErrNoBatches = errors.New("this provider has no batches that Decant knows")

// Submit makes a batch of own calls, if it may be made: it counts as one call, and as much money is held back as all of it may cost. Until it is
// settled it is booked at that. The cause names no upstream; a batch goes to the configured account.
func (c *Caller) Submit(ctx context.Context, cause provider.Cause, items []provider.BatchItem) (*provider.Batch, error) {
	x, maker, err := c.batch(cause)
	if err != nil {
		return nil, err
	}
	most := x.atMost(items)
	if x.entry, err = c.meter.enter(cause.Conversation.Tenant, x.total(most)); err != nil {
		return nil, fmt.Errorf("batch for %s: %w", cause.Purpose, err)
	}
	if err := x.hold(ctx, x.amount(most)); err != nil {
		c.meter.leave(x.entry, 0)
		return nil, fmt.Errorf("batch for %s: %w", cause.Purpose, err)
	}
	defer c.release(x)
	b, err := maker.Submit(ctx, items)
	if err != nil {
		if errors.Is(err, provider.ErrRefused) {
			c.meter.leave(x.entry, 0)
		}
		return nil, fmt.Errorf("batch for %s: %w", cause.Purpose, err)
	}
	return b, x.bookBatch(ctx, b.ID, most)
}

// Found books a batch whose Submit has failed although its provider has taken it.
func (c *Caller) Found(ctx context.Context, cause provider.Cause, id string, items []provider.BatchItem) error {
	x, _, err := c.batch(cause)
	if err != nil {
		return err
	}
	return x.bookBatch(ctx, id, x.atMost(items))
}

// Settle books what a batch has cost in place of what it was booked at. To do it again changes nothing.
func (c *Caller) Settle(
	ctx context.Context, cause provider.Cause, id string, items []provider.BatchItem, results []provider.BatchResult,
) error {
	x, _, err := c.batch(cause)
	if err != nil {
		return err
	}
	used := x.atMost(items)
	for name := range used {
		used[name] = decant.Usage{}
	}
	asked := map[string]string{}
	for i := range items {
		asked[items[i].ID] = x.modelOf(&items[i])
	}
	for i := range results {
		if a := results[i].Answer; a != nil {
			used[asked[results[i].ID]] = used[asked[results[i].ID]].Add(a.Usage)
		}
	}
	return x.bookBatch(ctx, id, used)
}

// batch returns a call that stands for a batch, and who makes batches.
func (c *Caller) batch(cause provider.Cause) (*call, provider.Batcher, error) {
	account := c.opts.Account
	if account == nil {
		return nil, nil, fmt.Errorf("batch for %s: %w", cause.Purpose, provider.ErrNoCredential)
	}
	maker, ok := account.Client.(provider.Batcher)
	if !ok {
		return nil, nil, fmt.Errorf("batch for %s: %w", cause.Purpose, ErrNoBatches)
	}
	return &call{c: c, cause: cause, begun: c.opts.Now(), account: account}, maker, nil
}

// modelOf returns the id of the model that an item is for.
func (x *call) modelOf(item *provider.BatchItem) string {
	return jsonspan.MemberText(item.Body, "model")
}

// atMost returns what items may use at most, by model.
func (x *call) atMost(items []provider.BatchItem) map[string]decant.Usage {
	out := map[string]decant.Usage{}
	for i := range items {
		name := x.modelOf(&items[i])
		x.model, _ = x.c.opts.Catalog.Lookup(name)
		x.request = provider.Request{Model: name, Body: items[i].Body}
		out[name] = out[name].Add(x.mostUsage())
	}
	return out
}

// total returns what usage costs in a batch, by model.
func (x *call) total(used map[string]decant.Usage) (sum store.Money) {
	for name, u := range used {
		sum += x.batchPrice(name, u)
	}
	return sum
}

// amount returns what usage comes to, by model.
func (x *call) amount(used map[string]decant.Usage) budget.Amount {
	out := budget.Amount{Money: x.total(used)}
	for _, u := range used {
		out.Tokens += u.Context()
	}
	return out
}

// batchPrice returns what usage of a model costs in a batch. Where that is not known it costs what it costs elsewhere.
func (x *call) batchPrice(name string, u decant.Usage) store.Money {
	m, _ := x.c.opts.Catalog.Lookup(name)
	n, _ := cost.Billionths(m, u, cost.Terms{At: x.begun, Batch: m.Batch > 0})
	return store.Money(n)
}

// bookBatch books a batch at what it has used, or may use, by model.
func (x *call) bookBatch(ctx context.Context, id string, used map[string]decant.Usage) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookTime)
	defer cancel()
	var list []store.Spend
	for name, u := range used {
		m, _ := x.c.opts.Catalog.Lookup(name)
		list = append(list, store.Spend{ID: "batch " + id + " " + name, Time: x.begun.UTC().Truncate(time.Millisecond), Model: m.ID, Own: true, Purpose: string(x.cause.Purpose), Usage: u, Cost: x.batchPrice(name, u)})
	}
	if x.entry != nil {
		x.c.meter.leave(x.entry, x.total(used))
	}
	if err := x.c.opts.Ledger.Book(ctx, x.cause.Conversation, list); err != nil {
		return fmt.Errorf("book batch %s: %w", id, err)
	}
	return nil
}
