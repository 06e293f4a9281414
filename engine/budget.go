package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A Budget limits what may be spent. Where it sets tokens and dollars, both hold. A model whose price is
// not known costs no dollars.
type Budget struct {
	Per    string  // "conversation", "tenant" (all time) or "day" (of a tenant, UTC)
	Tokens int     // of prompts and answers; 0: no limit
	USD    float64 // 0: no limit
}

// The shares of a budget at which something happens.
const (
	budgetWarn = 0.80 // somebody is told, once
	budgetAct  = 0.95 // pours come earlier and go deeper, counting what the request itself may cost
)

// A BudgetError says that a request would exceed a budget.
type BudgetError struct {
	Budget Budget
	Tokens int     // spent and reserved, the request included
	USD    float64 // likewise
	Own    bool    // the budget came with the request
}

// Error names the budget, what it would come to, and how to raise it.
func (e *BudgetError) Error() string {
	used, limit, field := usd(e.USD), usd(e.Budget.USD), "usd"
	if e.Budget.Tokens > 0 && e.Tokens > e.Budget.Tokens {
		used, limit, field = fmt.Sprintf("%d tokens", e.Tokens), fmt.Sprintf("%d tokens", e.Budget.Tokens), "tokens"
	}
	raise := fmt.Sprintf("raise %s under budgets in the settings", field)
	if e.Own {
		raise = "use a key with a larger one"
	}
	return fmt.Sprintf("the %s's budget of %s could come to %s with this request; %s%s", e.Budget.Per, limit, used, raise, e.Budget.relief())
}

// budgets returns those that a request falls under: the engine's, then its own.
func (e *Engine) budgets(req *Request) []Budget {
	if len(req.Budgets) == 0 {
		return e.opts.Budgets
	}
	return slices.Concat(e.opts.Budgets, req.Budgets)
}

// relief says what helps besides raising the budget.
func (b *Budget) relief() string {
	switch b.Per {
	case "day":
		return ", or wait until 00:00 UTC"
	case "conversation":
		return ", or begin another conversation"
	}
	return ""
}

// usd writes dollars, small amounts in more detail.
func usd(v float64) string {
	if v < 1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
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

// booked returns what was spent within a budget's scope. A conversation that is not stored yet has
// spent nothing. The purse is locked.
func (e *Engine) booked(ctx context.Context, b *Budget, tenant, conversation string) (sum amount, err error) {
	today := e.opts.Now().UTC().Truncate(24 * time.Hour)
	q := store.SpendQuery{Tenant: tenant, Since: today}
	switch b.Per {
	case "conversation":
		if conversation == "" {
			return sum, nil
		}
		q.Conversation, q.Since = conversation, time.Time{}
	case "tenant":
		q.Since = today.AddDate(0, 0, -1)
		if sum, err = e.before(ctx, tenant, q.Since); err != nil {
			return sum, err
		}
	}
	now, err := sumOf(ctx, e.store, q)
	return sum.plus(now), err
}

// before returns what a tenant has spent before a day. It is asked for with every request and no longer
// changes, so it is read once a day.
func (e *Engine) before(ctx context.Context, tenant string, day time.Time) (amount, error) {
	key := tenant + "\x00" + day.Format(time.DateOnly)
	if sum, ok := e.purse.past[key]; ok {
		return sum, nil
	}
	sum, err := sumOf(ctx, e.store, store.SpendQuery{Tenant: tenant, Until: day})
	if err == nil {
		e.purse.past = noting(e.purse.past, key, sum)
	}
	return sum, err
}

func sumOf(ctx context.Context, s store.Log, q store.SpendQuery) (sum amount, err error) {
	totals, err := s.Spending(ctx, q)
	if err != nil {
		return sum, fmt.Errorf("read what was spent: %w", err)
	}
	for i := range totals {
		t := &totals[i]
		sum = sum.plus(amount{t.Usage.Context(), t.Cost})
	}
	return sum, nil
}

// reserve holds back what a prepared request may cost at most. It returns a *BudgetError when a budget
// does not have that much left. When only other requests under way stand in its way, which will cost
// less than is held back for them, it waits for them to end, as long as optional work may take.
func (e *Engine) reserve(ctx context.Context, p *Prepared) error {
	if p.attempt == nil || len(e.budgets(p.attempt.req)) == 0 || p.attempt.req.Count || e.mode(p.attempt.req) == Observe {
		return nil
	}
	a, now := p.attempt, e.opts.Now()
	r := reservation{amount: a.worst(now), tenant: a.req.Tenant, conversation: p.Conversation, until: now.Add(reservationLife)}
	patience, cancel := context.WithTimeout(ctx, e.opts.Optional)
	defer cancel()
	for {
		ended, err := e.tryReserve(ctx, a.req, r)
		if ended == nil {
			return err
		}
		if !e.settles(patience, ended) {
			return err
		}
	}
}

// settles waits for the end of a reservation, and reports false when the context ends before. A request
// that was answered is settled when it is archived, so archives do not wait for this one.
func (e *Engine) settles(ctx context.Context, ended <-chan struct{}) bool {
	e.pending.flush()
	e.traffic.leave()
	defer e.traffic.enter()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// tryReserve makes a reservation or returns why not; if it may be possible later, with a channel that
// tells when. What is booked is read under the lock: a request that is booked and not yet released
// counts twice then, and never not at all.
func (e *Engine) tryReserve(ctx context.Context, key *Request, r reservation) (<-chan struct{}, error) {
	e.purse.mu.Lock()
	defer e.purse.mu.Unlock()
	budgets := e.budgets(key)
	for i := range budgets {
		b := &budgets[i]
		sum, err := e.booked(ctx, b, r.tenant, r.conversation)
		if err != nil {
			return nil, err
		}
		e.warn(b, &r, b.share(sum))
		all := sum.plus(e.purse.reserved(b, r.tenant, r.conversation, e.opts.Now())).plus(r.amount)
		if b.share(all) <= 1 {
			continue
		}
		over := &BudgetError{*b, all.tokens, all.money.USD(), i >= len(e.opts.Budgets)}
		if b.share(sum.plus(r.amount)) > 1 {
			return nil, over
		}
		return e.purse.next(), over
	}
	e.purse.hold(key, r)
	return nil, nil
}

// warn tells once, of each day, tenant or conversation, that most of a budget is spent. The purse is
// locked.
func (e *Engine) warn(b *Budget, r *reservation, share float64) {
	if share < budgetWarn {
		return
	}
	whose := ""
	switch b.Per {
	case "conversation":
		whose = " (" + r.conversation + ")"
	case "day":
		whose = " (" + e.opts.Now().UTC().Format(time.DateOnly) + ")"
	}
	if r.tenant != "" {
		whose += " of " + r.tenant
	}
	key := fmt.Sprint(*b, whose)
	if e.purse.warned[key] {
		return
	}
	e.purse.warned = noting(e.purse.warned, key, true)
	e.opts.Notice(fmt.Sprintf("the %s's budget%s is spent to %.0f%%", b.Per, whose, 100*share))
}

// worst returns what the request may cost at most: all of it written to the cache, if it asks for that,
// and as long an answer as it asks for.
func (a *attempt) worst(now time.Time) amount {
	n := a.size(a.view)
	u := decant.Usage{CacheWrite: n, Output: a.conv.MaxOutput}
	switch life := a.lifetime(); {
	case life == 0:
		u.Input, u.CacheWrite = n, 0
	case life > 5*time.Minute:
		u.Write1h = n
	}
	return amount{u.Context(), money(a, u, cost.Terms{At: now})}
}

// tighten makes pours come earlier and go deeper when a budget is nearly spent, unless the fixed part
// leaves no room for that.
func (a *attempt) tighten(ctx context.Context) {
	if len(a.e.budgets(a.req)) == 0 || !a.tight(ctx) {
		return
	}
	p := thriftiest(a.preset, a.model.Window)
	if l, err := LimitsFor(a.model, p, a.fixed, a.conv.MaxOutput); err == nil {
		a.preset, a.limits, a.pressed = p, l, true
	}
}

// tight reports whether a budget that the request falls under would nearly be spent with it. What
// cannot be read does not make it so: the reservation will say.
func (a *attempt) tight(ctx context.Context) bool {
	id := ""
	if a.line != nil {
		id = a.line.key.ID
	}
	most := a.worst(a.e.opts.Now())
	a.e.purse.mu.Lock()
	defer a.e.purse.mu.Unlock()
	budgets := a.e.budgets(a.req)
	for i := range budgets {
		b := &budgets[i]
		if sum, err := a.e.booked(ctx, b, a.req.Tenant, id); err == nil && b.share(sum.plus(most)) >= budgetAct {
			return true
		}
	}
	return false
}

// pressing returns the thrift with which a budget that is nearly spent is stretched.
func pressing() preset.Thrift { return preset.Thrift{Level: "high", Patience: 0.5, Keep: 1} }

// thriftiest returns the preset that is used when a budget is nearly spent: it pours at half the size,
// and for money as early as any level does, whether or not that is permitted otherwise.
func thriftiest(p *preset.Preset, window int) *preset.Preset {
	out := *p
	out.Thrift = pressing()
	if half := window / 2; out.Trigger.Tokens == 0 || out.Trigger.Tokens > half {
		out.Trigger.Tokens = half
	}
	return &out
}
