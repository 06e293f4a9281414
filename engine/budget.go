package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A Budget limits what may be spent. Where it sets tokens and dollars, both hold.
type Budget struct {
	Per    string  // "conversation", "tenant" (all time) or "day" (of a tenant, UTC)
	Tokens int     // of prompts and answers; 0: no limit
	USD    float64 // 0: no limit
}

// The shares of a budget at which something happens.
const (
	budgetWarn = 0.80 // somebody is told, once
	budgetAct  = 0.95 // pours come earlier and go deeper
)

// A BudgetError says that a request would exceed a budget.
type BudgetError struct {
	Budget Budget
	Tokens int     // spent and reserved, the request included
	USD    float64 // likewise
}

// Error names the budget, what it has come to, and how to raise it.
func (e *BudgetError) Error() string {
	used, limit := fmt.Sprintf("$%.2f", e.USD), fmt.Sprintf("$%.2f", e.Budget.USD)
	if e.Budget.Tokens > 0 && e.Tokens > e.Budget.Tokens {
		used, limit = fmt.Sprintf("%d tokens", e.Tokens), fmt.Sprintf("%d tokens", e.Budget.Tokens)
	}
	return fmt.Sprintf("with this request the %s's budget of %s would come to %s; raise it under budgets in the gateway's settings", e.Budget.Per, limit, used)
}

// A spender knows what was booked.
type spender interface {
	Spending(ctx context.Context, q store.SpendQuery) ([]store.Total, error)
}

// amount is what was spent, or will be.
type amount struct {
	tokens int
	money  store.Money
}

func (a amount) plus(b amount) amount { return amount{a.tokens + b.tokens, a.money + b.money} }

// share returns how much of a budget an amount is: the larger of the shares of tokens and of dollars.
func (b *Budget) share(a amount) float64 {
	out := 0.0
	if b.Tokens > 0 {
		out = float64(a.tokens) / float64(b.Tokens)
	}
	if b.USD > 0 {
		out = max(out, a.money.USD()/b.USD)
	}
	return out
}

// reservationLife is how long a reservation holds whose request was never finished.
const reservationLife = 15 * time.Minute

// A purse holds what is reserved for requests under way, so that requests side by side cannot
// overrun a budget together. The zero value is empty.
type purse struct {
	mu     sync.Mutex
	held   map[*Request]reservation
	warned map[string]bool
}

type reservation struct {
	amount
	tenant, conversation string
	until                time.Time
}

// reserved returns what is reserved within a budget's scope.
func (p *purse) reserved(b *Budget, tenant, conversation string, now time.Time) (sum amount) {
	for key, r := range p.held {
		switch {
		case now.After(r.until):
			delete(p.held, key)
		case r.tenant == tenant && (b.Per != "conversation" || r.conversation == conversation):
			sum = sum.plus(r.amount)
		}
	}
	return sum
}

// release ends a reservation.
func (p *purse) release(key *Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, key)
}

// query selects what counts for a budget.
func (b *Budget) query(tenant, conversation string, now time.Time) store.SpendQuery {
	q := store.SpendQuery{Tenant: tenant}
	switch b.Per {
	case "conversation":
		q.Conversation = conversation
	case "day":
		q.Since = now.UTC().Truncate(24 * time.Hour)
	}
	return q
}

// booked returns what was spent within a budget's scope. A conversation that is not stored yet has
// spent nothing.
func (e *Engine) booked(ctx context.Context, b *Budget, tenant, conversation string) (sum amount, err error) {
	s, ok := e.store.(spender)
	if !ok || b.Per == "conversation" && conversation == "" {
		return sum, nil
	}
	totals, err := s.Spending(ctx, b.query(tenant, conversation, e.opts.Now()))
	if err != nil {
		return sum, fmt.Errorf("read what was spent: %w", err)
	}
	for i := range totals {
		t := &totals[i]
		sum = sum.plus(amount{t.Usage.Context(), t.Cost})
	}
	return sum, nil
}

// reserve holds back what a prepared request may cost. It returns a *BudgetError when a budget does
// not have that much left.
func (e *Engine) reserve(ctx context.Context, p *Prepared) error {
	if len(e.opts.Budgets) == 0 || p.attempt == nil || p.attempt.req.Count || e.mode(p.attempt.req) == Observe {
		return nil
	}
	a, now := p.attempt, e.opts.Now()
	r := reservation{amount: a.worst(now), tenant: a.req.Tenant, conversation: p.Conversation, until: now.Add(reservationLife)}
	sums := make([]amount, len(e.opts.Budgets))
	for i := range sums {
		var err error
		if sums[i], err = e.booked(ctx, &e.opts.Budgets[i], r.tenant, r.conversation); err != nil {
			return err
		}
	}
	e.purse.mu.Lock()
	defer e.purse.mu.Unlock()
	for i := range sums {
		b := &e.opts.Budgets[i]
		all := sums[i].plus(e.purse.reserved(b, r.tenant, r.conversation, now)).plus(r.amount)
		if b.share(all) > 1 {
			return &BudgetError{*b, all.tokens, all.money.USD()}
		}
		e.warn(b, &r, b.share(all))
	}
	if e.purse.held == nil {
		e.purse.held = map[*Request]reservation{}
	}
	e.purse.held[a.req] = r
	return nil
}

// warn tells once that most of a budget is spent. The purse is locked.
func (e *Engine) warn(b *Budget, r *reservation, share float64) {
	key := b.Per + "\x00" + r.tenant
	if b.Per == "conversation" {
		key += "\x00" + r.conversation
	}
	if share < budgetWarn || e.purse.warned[key] {
		return
	}
	if e.purse.warned == nil {
		e.purse.warned = map[string]bool{}
	}
	e.purse.warned[key] = true
	e.opts.Notice(fmt.Sprintf("the %s's budget is spent to %.0f %%", b.Per, 100*share))
}

// worst returns what the request may cost at most: all of it written to the cache, and as long an
// answer as it asks for.
func (a *attempt) worst(now time.Time) amount {
	n := a.size(a.view)
	u := decant.Usage{CacheWrite: n, Output: a.conv.MaxOutput}
	if a.lifetime() > 5*time.Minute {
		u.Write1h = n
	}
	return amount{u.Context(), money(a, u, cost.Terms{At: now})}
}

// tighten makes pours come earlier and go deeper when a budget is nearly spent, unless the fixed part
// leaves no room for that.
func (a *attempt) tighten(ctx context.Context) {
	if len(a.e.opts.Budgets) == 0 || !a.tight(ctx) {
		return
	}
	p := thriftiest(a.preset, a.model.Window)
	if l, err := LimitsFor(a.model, p, a.fixed, a.conv.MaxOutput); err == nil {
		a.preset, a.limits = p, l
	}
}

// tight reports whether a budget that the request falls under is nearly spent. What cannot be read
// does not make it so: the reservation will say.
func (a *attempt) tight(ctx context.Context) bool {
	id := ""
	if a.line != nil {
		id = a.line.key.ID
	}
	for i := range a.e.opts.Budgets {
		b := &a.e.opts.Budgets[i]
		if sum, err := a.e.booked(ctx, b, a.req.Tenant, id); err == nil && b.share(sum) >= budgetAct {
			return true
		}
	}
	return false
}

// thriftiest returns the preset that is used when a budget is nearly spent: it pours at half the size,
// and for money as early as any level does.
func thriftiest(p *preset.Preset, window int) *preset.Preset {
	out := *p
	out.Thrift = preset.Thrift{Level: "high", Patience: 0.5, Keep: 1}
	if half := window / 2; out.Trigger.Tokens == 0 || out.Trigger.Tokens > half {
		out.Trigger.Tokens = half
	}
	return &out
}
