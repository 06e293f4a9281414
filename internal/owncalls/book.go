package owncalls

import (
	"context"
	"errors"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A debt is a call that was made and is not booked yet. Until it is, its reservation stands for it.
type debt struct {
	key   store.Key
	spend store.Spend
	call  *call
}

// book enters what the call has cost in the ledger, and ends what was held back for it. A call that may have been paid for
// although nothing was reported counts towards the cap at the most that it may have cost.
func (x *call) book(ctx context.Context, err error) {
	u := x.usage(err)
	if u.Context() == 0 {
		x.c.release(x)
		if x.mayHaveCost(err) {
			return
		}
		x.c.meter.leave(x.entry, 0)
		return
	}
	if m, known := x.c.opts.Catalog.Lookup(x.answer.Model); known && x.answer.Model != "" {
		x.model = m.For(x.request.Betas)
	}
	x.spend = store.Spend{Time: x.begun.UTC(), Model: x.model.ID, Own: true, Purpose: string(x.cause.Purpose), Usage: u, Cost: x.price(u)}
	x.c.enter(ctx, debt{x.cause.Conversation, x.spend, x})
	x.c.meter.leave(x.entry, x.spend.Cost)
}

// usage returns what was reported, and for an answer without a report, as some servers give it, what is estimated.
func (x *call) usage(err error) (u decant.Usage) {
	switch {
	case x.answer == nil:
	case x.answer.Usage.Context() > 0 || err != nil:
		u = x.answer.Usage
	default:
		u = decant.Usage{Input: x.prompt(), Output: token.For(x.model).Count(x.answer.Text)}
	}
	return u
}

// mayHaveCost reports whether a call of which no usage was reported may cost something all the same: its time ran out
// while the model was at work.
func (x *call) mayHaveCost(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, provider.ErrBroken)
}

// bookTime is how long booking may take; the call itself may be over time already.
const bookTime = 10 * time.Second

// mostOwed bounds the calls that wait for a ledger which fails.
const mostOwed = 1000

// enter books a call, and those that could not be booked before.
func (c *Caller) enter(ctx context.Context, d debt) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookTime)
	defer cancel()
	var err error
	if d.spend.ID, err = c.ids.Next(); err != nil {
		c.opts.Logger.Error("book own call", "error", err)
		return
	}
	c.mu.Lock()
	owed := append(c.owed, d)
	c.owed = nil
	c.mu.Unlock()
	for i, d := range owed {
		if err := c.opts.Ledger.Book(ctx, d.key, []store.Spend{d.spend}); err != nil {
			c.owe(owed[i:], err)
			return
		}
		c.release(d.call)
	}
}

// release ends what is held back for a call.
func (c *Caller) release(x *call) {
	if c.opts.Purse != nil {
		c.opts.Purse.Release(x.held)
	}
}

// owe keeps calls that could not be booked for the next time.
func (c *Caller) owe(ds []debt, err error) {
	c.opts.Logger.Error("book own calls: they are booked with the next one", "calls", len(ds), "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owed = append(ds, c.owed...)
	if lost := len(c.owed) - mostOwed; lost > 0 {
		c.opts.Logger.Error("own calls are not in the ledger", "calls", lost)
		c.owed = c.owed[:mostOwed]
	}
}
