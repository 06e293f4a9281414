package plan

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
)

// Price prices usage; what has no known price counts nothing.
func (in *Input) Price(u decant.Usage, t cost.Terms) store.Money {
	n, _ := cost.Billionths(in.Model, u, t)
	return store.Money(n)
}

// Reservation returns what the request may cost at most in a conversation: all of it written to the cache, if it asks
// for that, and as long an answer as it asks for.
func (dr *Draft) Reservation(conversation string) *budget.Reservation {
	in := dr.Input
	u := Uncached(in.Conv, dr.Size(dr.View)).Add(in.Demand.Paid)
	return &budget.Reservation{
		Tenant: in.Start.Tenant, Conversation: conversation, Budgets: in.Budgets, Own: in.Own,
		Most: budget.Amount{Tokens: u.Context(), Money: dr.Price(u, cost.Terms{At: in.Now()})},
	}
}

// Uncached is the usage of a request with a prompt of n tokens of which nothing is read from the cache, and with as
// long an answer as it asks for. All of the prompt is written to the cache, if the request asks for that.
func Uncached(c *decant.Conversation, n int) decant.Usage {
	u := decant.Usage{CacheWrite: n, Output: c.MaxOutput}
	switch life := cost.LongestLife(c); {
	case life == 0:
		u.Input, u.CacheWrite = n, 0
	case life > 5*time.Minute:
		u.Write1h = n
	}
	return u
}
