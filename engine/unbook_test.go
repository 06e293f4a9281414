package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/batch"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/store"
)

// sluggish is a store that sums up slowly.
type sluggish struct {
	engine.Store
	time time.Duration
}

func (s *sluggish) Spending(ctx context.Context, q store.SpendQuery) ([]store.Total, error) {
	select {
	case <-time.After(s.time):
		return s.Store.Spending(ctx, q)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A batch whose answers are booked one by one (decant triage) stayed booked at the most that it might have cost where its
// booking was still under way when it was settled, or where the store could not say in a second what it was booked at.
func TestUnbookedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time passes only while nothing else happens
		x := newTill(t)
		x.start(&sluggish{x.db, 30 * time.Millisecond}, 10*time.Millisecond)
		body := []byte(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"why?"}]}`)
		for i := range 5 {
			b, err := x.engine.Batches().Prepare(t.Context(), &batch.Request{Dialect: index.Default, Items: []dialect.BatchItem{{ID: "a", Params: body}}})
			if err != nil {
				t.Fatal(err)
			}
			id := fmt.Sprint("batch", i)
			gone, cancel := context.WithCancel(t.Context())
			cancel() // the process is interrupted, and the provider has the batch
			if err := b.BookNow(gone, id); err != nil {
				t.Fatal(err)
			}
			if usd := x.booked(id); usd == 0 {
				t.Errorf("%s: nothing is booked", id)
			}
			for range 2 { // a process that dies behind it does it again
				if err := x.engine.Batches().Unbook(t.Context(), "", id); err != nil {
					t.Fatal(err)
				}
			}
			if usd := x.booked(id); usd != 0 {
				t.Errorf("%s: $%.6f stay booked", id, usd)
			}
		}
		if err := x.engine.Batches().Unbook(t.Context(), "", "another"); err != nil {
			t.Errorf("one that is not booked: %v", err)
		}
	})
}

// booked returns what a batch is booked at.
func (x *till) booked(id string) (usd float64) {
	x.t.Helper()
	totals, err := x.db.Spending(x.t.Context(), store.SpendQuery{Conversation: id})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, total := range totals {
		usd += total.Cost.USD()
	}
	return usd
}
