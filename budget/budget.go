package budget

import (
	"fmt"

	"github.com/decantdev/decant/store"
)

// A Budget limits what may be spent. Where it sets tokens and dollars, both hold. A model whose price is
// not known costs no dollars.
type Budget struct {
	Per    string  // "conversation", "tenant" (all time), or "month" or "day" (of a tenant, UTC)
	Tokens int     // of prompts and answers; 0: no limit
	USD    float64 // 0: no limit
}

// pers are what budgets may be for.
var pers = [...]string{"conversation", "tenant", "month", "day"}

// The shares of a budget at which something happens.
const (
	plenty = 0.75 // up to here what is remembered of it will do
	warn   = 0.80 // a warning is given, once
	act    = 0.95 // it is tight, counting what the request itself may cost
)

// An Error says that a request would exceed a budget.
type Error struct {
	Budget Budget
	Tokens int     // spent and reserved, the request included
	USD    float64 // the same in dollars
	Own    bool    // the budget came with the request
}

// Error names the budget, what it would come to, and how to raise it.
func (e *Error) Error() string {
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

// An Amount is what was spent, or will be.
type Amount struct {
	Tokens int
	Money  store.Money
}

// Plus returns the sum of two amounts.
func (a Amount) Plus(b Amount) Amount { return Amount{a.Tokens + b.Tokens, a.Money + b.Money} }

// Minus returns the difference of two amounts.
func (a Amount) Minus(b Amount) Amount { return Amount{a.Tokens - b.Tokens, a.Money - b.Money} }

// Share returns how much of a budget an amount is, 1 for all of it: the larger of the shares of tokens and of dollars. It is 0 where neither
// is limited.
func (b *Budget) Share(a Amount) float64 {
	out := 0.0
	if b.Tokens > 0 {
		out = float64(a.Tokens) / float64(b.Tokens)
	}
	if b.USD > 0 {
		out = max(out, a.Money.USD()/b.USD)
	}
	return out
}

// A scope is what a budget counts for: the conversation is empty but in a budget for one.
type scope struct{ per, tenant, conversation string }

// scope returns what a budget counts for when a request falls under it.
func (b *Budget) scope(r *Reservation) scope {
	if b.Per != "conversation" {
		return scope{b.Per, r.Tenant, ""}
	}
	return scope{b.Per, r.Tenant, r.Conversation}
}

// begins reports whether it is that of a conversation which is not stored yet: nothing else falls into it.
func (s scope) begins() bool { return s.per == "conversation" && s.conversation == "" }
