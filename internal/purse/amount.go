package purse

import (
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/store"
)

// pers are what budgets may be for.
var pers = [...]string{"conversation", "tenant", "month", "day"}

// The shares of a budget at which something happens.
const (
	plenty = 0.75 // up to here what is remembered of it will do
	warn   = 0.80 // a warning is given, once
	act    = 0.95 // it is tight, counting what the request itself may cost
)

// An Amount is what was spent, or will be.
type Amount struct {
	Tokens int
	Money  store.Money
}

// Plus returns the sum of two amounts.
func (a Amount) Plus(b Amount) Amount { return Amount{a.Tokens + b.Tokens, a.Money + b.Money} }

// Minus returns the difference of two amounts.
func (a Amount) Minus(b Amount) Amount { return Amount{a.Tokens - b.Tokens, a.Money - b.Money} }

// Of returns how much of a budget the amount is, 1 for all of it: the larger of the shares of tokens and of dollars. It is 0 where neither
// is limited.
func (a Amount) Of(b *budget.Budget) float64 {
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

// scopeOf returns what a budget counts for when a request falls under it.
func scopeOf(b *budget.Budget, r *Reservation) scope {
	if b.Per != "conversation" {
		return scope{b.Per, r.Tenant, ""}
	}
	return scope{b.Per, r.Tenant, r.Conversation}
}

// begins reports whether it is that of a conversation which is not stored yet: nothing else falls into it.
func (s scope) begins() bool { return s.per == "conversation" && s.conversation == "" }
