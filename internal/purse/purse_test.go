package purse_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A clock stands still until it is set.
type clock struct{ at atomic.Int64 }

func (c *clock) Now() time.Time       { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

// purse returns a purse on a store of its own.
func newPurse(t *testing.T, log *slog.Logger) (*purse.Purse, store.Store, *clock) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := &clock{}
	c.at.Store(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC).UnixNano())
	return purse.New(db, c.Now, log), db, c
}

func ask(tokens int, bs ...budget.Budget) *purse.Reservation {
	return &purse.Reservation{Tenant: "alice", Conversation: "c", Most: purse.Amount{Tokens: tokens}, Budgets: bs}
}

// Requests side by side cannot overrun a budget together, whatever order they come in; each that ends makes room for
// another.
func TestRequestsSideBySideCannotOverrunABudget(t *testing.T) {
	p := purse.New(&sum{}, new(clock).Now, slog.New(slog.DiscardHandler))
	day := budget.Budget{Per: "day", Tokens: 1000}
	var held, most atomic.Int64
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			r := ask(100, day)
			for {
				ended, err := p.Hold(t.Context(), r)
				if err == nil {
					break
				}
				if over := (*budget.Error)(nil); !errors.As(err, &over) {
					t.Errorf("%v, want a *budget.Error", err)
					return
				}
				if ended != nil { // nil: what has just ended counts as spent until the sum is read again
					<-ended
				}
			}
			if n := held.Add(100); n > most.Load() {
				most.Store(n)
			}
			if held.Load() > 1000 {
				t.Errorf("%d tokens are held of 1000", held.Load())
			}
			held.Add(-100)
			p.Release(r)
		})
	}
	work.Wait()
	if most.Load() == 0 {
		t.Error("nothing was held")
	}
}

// A request that would exceed a budget, such as one of a month, alone is refused for good: no other one stands in its way.
func TestWhatNeverFitsIsRefusedAtOnce(t *testing.T) {
	p, db, now := newPurse(t, slog.New(slog.DiscardHandler))
	spend := store.Spend{ID: "1", Time: now.Now(), Model: "m", Usage: decant.Usage{Input: 900}}
	if err := db.Book(t.Context(), store.Key{Tenant: "alice", ID: "c"}, []store.Spend{spend}); err != nil {
		t.Fatal(err)
	}
	for _, b := range []budget.Budget{{Per: "day", Tokens: 1000}, {Per: "month", Tokens: 1000}, {Per: "tenant", Tokens: 1000}} {
		ended, err := p.Hold(t.Context(), ask(101, b))
		over := (*budget.Error)(nil)
		if !errors.As(err, &over) || ended != nil || over.Tokens != 1001 || over.Own {
			t.Errorf("%s: %v, %+v, with a channel: %v", b.Per, err, over, ended != nil)
		}
		if !p.Tight(t.Context(), ask(60, b)) || p.Tight(t.Context(), ask(40, b)) {
			t.Errorf("%s: 960 of 1000 are tight, 940 are not", b.Per)
		}
		r := ask(100, b)
		if _, err := p.Hold(t.Context(), r); err != nil {
			t.Errorf("%s: 1000 of 1000: %v", b.Per, err)
		}
		p.Release(r)
		p.Release(r) // a second time is nothing to it
		now.pass(2 * time.Second)
	}
	now.pass(24 * time.Hour)
	if _, err := p.Hold(t.Context(), ask(900, budget.Budget{Per: "day", Tokens: 1000})); err != nil {
		t.Errorf("on the next day: %v", err)
	}
	own := ask(101, budget.Budget{Per: "month", Tokens: 1000})
	own.Own = 1
	if _, err := p.Hold(t.Context(), own); err == nil || !strings.Contains(err.Error(), "use a key with a larger one") {
		t.Errorf("a budget of the key's own: %v", err)
	}
}

// A reservation whose request was never finished holds for a quarter of an hour, and no longer.
func TestAForgottenReservationEnds(t *testing.T) {
	p, _, now := newPurse(t, slog.New(slog.DiscardHandler))
	b := budget.Budget{Per: "tenant", Tokens: 1000}
	if _, err := p.Hold(t.Context(), ask(1000, b)); err != nil {
		t.Fatal(err)
	}
	now.pass(14 * time.Minute)
	if ended, err := p.Hold(t.Context(), ask(1, b)); err == nil || ended == nil {
		t.Errorf("after 14 minutes: %v", err)
	}
	now.pass(2 * time.Minute)
	if _, err := p.Hold(t.Context(), ask(1000, b)); err != nil {
		t.Errorf("after 16 minutes: %v", err)
	}
}

// A sum that cannot be read neither stops an agent nor opens a budget that is known to be spent.
func TestASumThatCannotBeReadIsTheOneBefore(t *testing.T) {
	db := &sum{}
	now := &clock{}
	p := purse.New(db, now.Now, slog.New(slog.DiscardHandler))
	b := budget.Budget{Per: "tenant", Tokens: 1000}
	db.Tokens = 990
	if _, err := p.Hold(t.Context(), ask(100, b)); err == nil {
		t.Error("1090 of 1000 were held")
	}
	db.err = errors.New("broken")
	now.pass(time.Hour)
	if _, err := p.Hold(t.Context(), ask(100, b)); err == nil {
		t.Error("a budget that was spent is open because its sum cannot be read")
	}
	if _, err := p.Hold(t.Context(), ask(100, budget.Budget{Per: "day", Tokens: 1000})); err != nil {
		t.Errorf("a budget of which nothing is known: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Hold(gone, ask(100, b)); !errors.Is(err, context.Canceled) {
		t.Errorf("for a client that has gone: %v", err)
	}
}

// A sum is a store of one sum, which can fail.
type sum struct {
	store.Sum
	err error
}

func (s *sum) Spent(context.Context, store.SpendQuery) (store.Sum, error) { return s.Sum, s.err }
