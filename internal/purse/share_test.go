package purse_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/store"
)

// Where a budget sets tokens and dollars, both hold: its share is that of the tighter one, and the other never hides it.
func TestTheTighterLimitCounts(t *testing.T) {
	const dollar = store.Money(1e9)
	for name, c := range map[string]struct {
		b    budget.Budget
		a    purse.Amount
		want float64
	}{
		"no limit":                {budget.Budget{}, purse.Amount{Tokens: 1000, Money: dollar}, 0},
		"tokens alone":            {budget.Budget{Tokens: 1000}, purse.Amount{Tokens: 900, Money: 5 * dollar}, 0.9},
		"dollars alone":           {budget.Budget{USD: 2}, purse.Amount{Tokens: 900, Money: dollar}, 0.5},
		"tokens are tighter":      {budget.Budget{Tokens: 1000, USD: 2}, purse.Amount{Tokens: 900, Money: dollar}, 0.9},
		"dollars are tighter":     {budget.Budget{Tokens: 1000, USD: 2}, purse.Amount{Tokens: 100, Money: dollar}, 0.5},
		"both alike":              {budget.Budget{Tokens: 1000, USD: 2}, purse.Amount{Tokens: 500, Money: dollar}, 0.5},
		"a model without a price": {budget.Budget{Tokens: 1000, USD: 2}, purse.Amount{Tokens: 1500}, 1.5},
		"dollars and no tokens":   {budget.Budget{Tokens: 1000, USD: 2}, purse.Amount{Money: 3 * dollar}, 1.5},
		"nothing":                 {budget.Budget{Tokens: 1000, USD: 2}, purse.Amount{}, 0},
	} {
		if got := c.a.Of(&c.b); got != c.want {
			t.Errorf("%s: share %g, want %g", name, got, c.want)
		}
	}
}

// A request is refused by the limit that it exceeds, and the refusal names that one.
func TestARequestIsRefusedByEitherLimit(t *testing.T) {
	p := purse.New(&sum{}, new(clock).Now, slog.New(slog.DiscardHandler))
	for _, c := range []struct {
		most purse.Amount
		want string // what the refusal says it could come to, empty: it is held
	}{
		{purse.Amount{Tokens: 1000, Money: 2e9}, ""},
		{purse.Amount{Tokens: 1001, Money: 1e9}, "the day's budget of 1000 tokens could come to 1001 tokens with this request"},
		{purse.Amount{Tokens: 900, Money: 2_000_000_001}, "the day's budget of $2.00 could come to $2.00 with this request"},
	} {
		r := &purse.Reservation{Most: c.most, Budgets: []budget.Budget{{Per: "day", Tokens: 1000, USD: 2}}}
		_, err := p.Hold(t.Context(), r)
		if (err == nil) != (c.want == "") || err != nil && err.Error()[:len(c.want)] != c.want {
			t.Errorf("%+v: %v, want %q", c.most, err, c.want)
		}
		p.Release(r)
	}
}

// Each answer counts once in the budget of its own day, month and tenant, also one that ended before midnight and is booked after
// somebody has asked what was spent: what the purse remembers of days that have passed never hides it.
func TestWhatIsBookedAfterMidnightCountsForItsDay(t *testing.T) {
	p, db, now := newPurse(t, slog.New(slog.DiscardHandler))
	at := func(month time.Month, day int, clock time.Duration) time.Time {
		return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC).Add(clock)
	}
	const soon, late = 30 * time.Second, 24*time.Hour - 10*time.Second
	for i, c := range []struct {
		name         string
		asked, ended time.Time
		early        bool // it must have been booked before anybody asked
		day, month   bool // it counts for the day and the month of asked; a tenant's budget always has it
	}{
		{name: "today", asked: at(11, 3, soon), ended: at(11, 3, time.Second), day: true, month: true},
		{name: "at midnight", asked: at(11, 3, soon), ended: at(11, 3, 0), day: true, month: true},
		{name: "just before midnight", asked: at(11, 3, soon), ended: at(11, 2, late), month: true},
		{name: "as yesterday began", asked: at(11, 3, soon), ended: at(11, 2, 0), month: true},
		{name: "the day before yesterday", asked: at(11, 3, soon), ended: at(11, 1, late), early: true, month: true},
		{name: "as the month began", asked: at(11, 3, soon), ended: at(11, 1, 0), early: true, month: true},
		{name: "before the month began", asked: at(11, 3, soon), ended: at(10, 31, late), early: true},
		{name: "the first of a month", asked: at(12, 1, soon), ended: at(12, 1, time.Second), day: true, month: true},
		{name: "the last of the month before", asked: at(12, 1, soon), ended: at(11, 30, late)},
		{name: "the second of a month", asked: at(12, 2, soon), ended: at(12, 1, late), month: true},
	} {
		tenant, spent := fmt.Sprint("tenant ", i), map[string]int{}
		ask := func() {
			now.pass(2 * time.Second) // what was read is not remembered for so long
			for _, per := range []string{"day", "month", "tenant"} {
				over := (*budget.Error)(nil)
				r := &purse.Reservation{Tenant: tenant, Most: purse.Amount{Tokens: 5000}, Budgets: []budget.Budget{{Per: per, Tokens: 1}}}
				if _, err := p.Hold(t.Context(), r); !errors.As(err, &over) {
					t.Fatalf("%s, per %s: %v", c.name, per, err)
				}
				spent[per] = over.Tokens - 5000
			}
		}
		now.at.Store(c.asked.UnixNano())
		if !c.early {
			ask()
		}
		s := store.Spend{ID: tenant, Time: c.ended, Model: "m", Usage: decant.Usage{Input: 900}}
		if err := db.Book(t.Context(), store.Key{Tenant: tenant, ID: "c"}, []store.Spend{s}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time much of it is remembered
			ask()
			for per, counts := range map[string]bool{"day": c.day, "month": c.month, "tenant": true} {
				if counted := spent[per] == 900; counted != counts || spent[per] != 0 && !counted {
					t.Errorf("%s: %d tokens are counted per %s, counts: %v", c.name, spent[per], per, counts)
				}
			}
		}
	}
}
