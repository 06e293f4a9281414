package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// A Budget limits what may be spent. Where it sets tokens and dollars, both hold. A model whose price is
// not known costs no dollars.
type Budget struct {
	Per    string  // "conversation", "tenant" (all time), or "month" or "day" (of a tenant, UTC)
	Tokens int     // of prompts and answers; 0: no limit
	USD    float64 // 0: no limit
}

// budgetPers are what budgets may be for.
var budgetPers = [...]string{"conversation", "tenant", "month", "day"}

// The shares of a budget at which something happens.
const (
	budgetPlenty = 0.75 // up to here what is remembered of it will do
	budgetWarn   = 0.80 // somebody is told, once
	budgetAct    = 0.95 // pours come earlier and go deeper, counting what the request itself may cost
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
	case "month":
		return ", or wait until the first of the next month, UTC"
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

func (a amount) minus(b amount) amount { return amount{a.tokens - b.tokens, a.money - b.money} }

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

// warn tells once, of each day, month, tenant or conversation, that most of a budget is spent. The purse is
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
	case "month":
		whose = " (" + e.opts.Now().UTC().Format("2006-01") + ")"
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
func (dr *draft) worst(now time.Time) amount {
	u := uncached(dr.Conv, dr.size(dr.view))
	return amount{u.Context(), money(dr, u, cost.Terms{At: now})}
}

// uncached is the usage of a request with a prompt of n tokens of which nothing is read from the cache, and with as
// long an answer as it asks for. All of the prompt is written to the cache, if the request asks for that.
func uncached(c *decant.Conversation, n int) decant.Usage {
	u := decant.Usage{CacheWrite: n, Output: c.MaxOutput}
	switch life := policy.LongestLife(c); {
	case life == 0:
		u.Input, u.CacheWrite = n, 0
	case life > 5*time.Minute:
		u.Write1h = n
	}
	return u
}

// tighten makes pours come earlier and go deeper when a budget is nearly spent, unless the fixed part
// leaves no room for that.
func (dr *draft) tighten(ctx context.Context) {
	if len(dr.e.budgets(dr.req)) == 0 || !dr.tight(ctx) {
		return
	}
	p := thriftiest(dr.preset, dr.model.Window)
	if l, err := policy.LimitsFor(dr.model, p, dr.fixed, dr.Conv.MaxOutput); err == nil {
		dr.preset, dr.limits, dr.pressed = p, l, true
	}
}

// tight reports whether a budget that the request falls under would nearly be spent with it. That a sum cannot
// be read the reservation will say.
func (dr *draft) tight(ctx context.Context) bool {
	id := ""
	if dr.Stored != nil {
		id = dr.Stored.Key.ID
	}
	most := dr.worst(dr.e.opts.Now())
	budgets := dr.e.budgets(dr.req)
	if dr.e.ample(budgets, dr.req.Tenant, id, most) {
		return false
	}
	sums, _ := dr.e.booked(ctx, budgets, dr.req.Tenant, id)
	for i := range sums {
		if budgets[i].share(sums[i].plus(most)) >= budgetAct {
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
