package purse

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/store"
)

// Store says what was spent.
type Store interface {
	Spent(context.Context, store.SpendQuery) (store.Sum, error)
}

// A Purse holds requests against their budgets. It is safe for concurrent use.
type Purse struct {
	// Tell gets each warning that is logged. It must return at once and not change once the purse is used. May be nil.
	Tell func(budget.Warning)

	store  Store
	now    func() time.Time
	log    *slog.Logger
	memory memory
}

// New returns a purse. log gets a warning once, of each day, month, tenant or conversation, that most of a budget
// is spent, and an error of sums that could not be read.
func New(s Store, now func() time.Time, log *slog.Logger) *Purse {
	return &Purse{store: s, now: now, log: log}
}

// A Reservation is what one request may cost at most. It must not change once it is held.
type Reservation struct {
	Tenant       string
	Conversation string // id, empty when it is not stored yet
	Most         Amount
	Budgets      []budget.Budget // that the request falls under
	Own          int             // how many of Budgets, at their end, came with the request

	until time.Time
}

// Hold holds a reservation. It returns an *Error when a budget does not have that much left; if only other requests
// under way stand in its way, which will cost less than is held back for them, it returns a channel as well that is
// closed when one of them ends: then it is worth trying again.
//
// Far from the limits what is remembered will do; near them what was spent is read from the store. A reservation that
// is not released holds for a quarter of an hour.
func (p *Purse) Hold(ctx context.Context, r *Reservation) (ended <-chan struct{}, err error) {
	r.until = p.now().Add(life)
	if p.holdPlenty(r) {
		return nil, nil
	}
	sums, err := p.spent(ctx, r)
	if ctx.Err() != nil {
		return nil, ctx.Err() // the caller has given up
	}
	if err != nil {
		p.log.Error("read what was spent", "error", err)
	}
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	for i := range r.Budgets {
		b, sum := &r.Budgets[i], sums[i]
		p.warn(b, r, sum.Of(b))
		all := sum.Plus(p.memory.reserved(b, r, p.now())).Plus(r.Most)
		if all.Of(b) <= 1 {
			continue
		}
		over := &budget.Error{Budget: *b, Tokens: all.Tokens, USD: all.Money.USD(), Own: i >= len(r.Budgets)-r.Own}
		if sum.Plus(r.Most).Of(b) > 1 {
			return nil, over
		}
		return p.memory.next(), over
	}
	p.memory.hold(r)
	return nil, nil
}

// holdPlenty holds a reservation if by what is remembered no budget comes near its end with it, beside what others hold.
func (p *Purse) holdPlenty(r *Reservation) bool {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	now := p.now()
	if !p.ample(r, now, func(b *budget.Budget) Amount { return p.memory.reserved(b, r, now) }) {
		return false
	}
	p.memory.hold(r)
	return true
}

// ample reports whether by what is remembered no budget comes near its end with a reservation and what stands beside it.
// The memory is locked.
func (p *Purse) ample(r *Reservation, now time.Time, beside func(*budget.Budget) Amount) bool {
	for i := range r.Budgets {
		b := &r.Budgets[i]
		if sum, ok := p.memory.recent(scopeOf(b, r), now); !ok || sum.Plus(beside(b)).Plus(r.Most).Of(b) >= plenty {
			return false
		}
	}
	return true
}

// Release ends a reservation. One that is nil or not held is nothing to it.
func (p *Purse) Release(r *Reservation) { p.memory.release(r) }

// Tight reports whether a budget would nearly be spent with a reservation, others under way left aside. A sum that
// cannot be read counts as it was read last: Hold tells of it.
func (p *Purse) Tight(ctx context.Context, r *Reservation) bool {
	if p.isAmple(r) {
		return false
	}
	sums, _ := p.spent(ctx, r)
	for i := range sums {
		if sums[i].Plus(r.Most).Of(&r.Budgets[i]) >= act {
			return true
		}
	}
	return false
}

// isAmple reports whether by what is remembered no budget comes near its end with a reservation, others left aside.
func (p *Purse) isAmple(r *Reservation) bool {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	return p.ample(r, p.now(), func(*budget.Budget) Amount { return Amount{} })
}

// warn tells once, of each day, month, tenant or conversation, that most of a budget is spent. The memory is locked.
func (p *Purse) warn(b *budget.Budget, r *Reservation, share float64) {
	if share < warn {
		return
	}
	as := []any{slog.String("per", b.Per)}
	switch b.Per {
	case "conversation":
		as = append(as, slog.String("conversation", r.Conversation))
	case "day":
		as = append(as, slog.String("day", p.now().UTC().Format(time.DateOnly)))
	case "month":
		as = append(as, slog.String("month", p.now().UTC().Format("2006-01")))
	}
	if r.Tenant != "" {
		as = append(as, slog.String("tenant", r.Tenant))
	}
	key := fmt.Sprint(*b, as)
	if p.memory.warned[key] {
		return
	}
	p.memory.warned = noting(p.memory.warned, key, true)
	p.log.Warn("most of a budget is spent", append(as, slog.Int("percent", int(math.Round(100*share))))...)
	if p.Tell != nil {
		p.Tell(budget.Warning{Budget: *b, Tenant: r.Tenant, Conversation: r.Conversation, Share: share})
	}
}
