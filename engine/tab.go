package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/store"
)

// A tab is what the requests of a batch come to, by model.
type tab struct {
	e      *Engine
	day    time.Time // whose prices hold
	spends map[string]*store.Spend
}

// add adds the usage of a request, and returns what it costs. Where it is not known what a batch costs it costs what any
// request does.
func (t *tab) add(model string, betas []string, u decant.Usage) budget.Amount {
	m := t.e.model(model, "", 0, betas)
	n, _ := cost.Billionths(m, u, cost.Terms{At: t.day, Batch: m.Batch > 0})
	s := t.spends[m.ID]
	if s == nil {
		s = &store.Spend{Time: t.day.UTC(), Model: m.ID}
		t.spends[m.ID] = s
	}
	s.Usage, s.Cost = s.Usage.Add(u), s.Cost+store.Money(n)
	return budget.Amount{Tokens: u.Context(), Money: store.Money(n)}
}

// put stores the tab of a batch in place of what was stored before.
func (t *tab) put(ctx context.Context, k store.Key) error {
	var list []store.Spend
	for model, s := range t.spends {
		s.ID, s.Without, s.Bare = "batch "+k.ID+" "+model, s.Usage, s.Cost
		list = append(list, *s)
	}
	if err := t.e.store.Book(ctx, k, list); err != nil {
		return fmt.Errorf("book batch %s: %w", k.ID, err)
	}
	return nil
}

// behind puts the tab of a batch while nobody waits, and then calls done.
func (t *tab) behind(k store.Key, done func()) {
	t.e.later(func(ctx context.Context) {
		defer done()
		if err := t.put(ctx, k); err != nil {
			t.e.opts.Logger.Error("a batch is not booked", "batch", k.ID, "error", err)
		}
	})
}
