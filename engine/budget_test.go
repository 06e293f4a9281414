package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store/sqlite"
)

// till is an engine with budgets, and what it said.
type till struct {
	t      *testing.T
	engine *engine.Engine
	now    *clock
	mu     sync.Mutex
	said   []string
}

func newTill(t *testing.T, budgets ...engine.Budget) *till {
	t.Helper()
	return newTillFor(t, time.Minute, budgets...)
}

// newTillFor is a till at which a request waits so long for others to be settled.
func newTillFor(t *testing.T, patience time.Duration, budgets ...engine.Budget) *till {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &till{t: t, now: newClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}
	x.engine, err = engine.New(db, engine.Options{
		Budgets: budgets, Now: x.now.Now, Optional: patience, Necessary: time.Minute,
		Fault: func(err error) { t.Errorf("fault: %v", err) },
		Notice: func(text string) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.said = append(x.said, text)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.engine.Close(); db.Close() })
	return x
}

// ask prepares a request of about a thousand tokens, with room for an answer of a hundred.
func (x *till) ask(session string) (*engine.Prepared, error) {
	words := strings.TrimSpace(strings.Repeat("count ", 1000))
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"%s %s"}]}`, session, words)
	return x.engine.Prepare(context.Background(), &engine.Request{Session: session, Body: []byte(body)})
}

// answer ends a request and waits until it is booked.
func (x *till) answer(p *engine.Prepared, tokens int) {
	x.engine.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: tokens, Output: 10}, Content: []byte(`[{"type":"text","text":"ok"}]`)})
	x.engine.Close()
}

func TestBudgetHoldsAgainstRequestsSideBySide(t *testing.T) {
	x := newTillFor(t, 5*time.Second, engine.Budget{Per: "day", Tokens: 5000}) // nothing is settled here
	var wg sync.WaitGroup
	var mu sync.Mutex
	var passed []*engine.Prepared
	for i := range 12 {
		wg.Go(func() {
			p, err := x.ask(fmt.Sprint("s", i))
			mu.Lock()
			defer mu.Unlock()
			var over *engine.BudgetError
			switch {
			case err == nil:
				passed = append(passed, p)
			case !errors.As(err, &over) || over.Tokens <= 5000:
				t.Errorf("refused with %v", err)
			}
		})
	}
	wg.Wait()
	if n := len(passed); n == 0 || n > 4 {
		t.Errorf("%d requests of about 1,100 tokens were let through within 5,000", n)
	}
}

func TestReservationIsSettledByWhatWasSpent(t *testing.T) {
	x := newTill(t, engine.Budget{Per: "tenant", Tokens: 5000})
	for i := range 20 { // each reserves a thousand and uses ten
		p, err := x.ask(fmt.Sprint("s", i))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		x.answer(p, 10)
	}
}

func TestFailedRequestsCostNothing(t *testing.T) {
	x := newTill(t, engine.Budget{Per: "day", Tokens: 2500})
	for i := range 10 {
		p, err := x.ask(fmt.Sprint("s", i))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		x.engine.Finish(p, engine.Response{Status: 529})
	}
}

func TestBudgetWarnsOnceAndThenStops(t *testing.T) {
	x := newTill(t, engine.Budget{Per: "conversation", USD: 0.0315})
	stopped := error(nil)
	for range 20 {
		p, err := x.ask("s")
		if err != nil {
			stopped = err
			break
		}
		x.answer(p, 1500)
	}
	if stopped == nil || !strings.Contains(stopped.Error(), "the conversation's budget of $0.0315") || !strings.Contains(stopped.Error(), "raise usd under budgets") {
		t.Errorf("stopped with %v", stopped)
	}
	if n := strings.Count(strings.Join(x.said, "\n"), "is spent to"); n != 1 {
		t.Errorf("warned %d times: %q", n, x.said)
	}
	if _, err := x.ask("another"); err != nil {
		t.Errorf("another conversation is refused: %v", err)
	}
}

// A budget of a day is whole again the next day, and warns again; one of a tenant counts all days.
func TestADayEndsAndATenantsBudgetDoesNot(t *testing.T) {
	for _, per := range []string{"day", "tenant"} {
		t.Run(per, func(t *testing.T) {
			x := newTill(t, engine.Budget{Per: per, Tokens: 5000})
			passed := 0
			for day := range 4 {
				for n := range 2 {
					if p, err := x.ask(fmt.Sprint(day, n)); err == nil {
						passed++
						x.answer(p, 2200)
					}
				}
				x.now.pass(24 * time.Hour)
			}
			if want := map[string]int{"day": 8, "tenant": 2}[per]; passed != want {
				t.Errorf("%d requests passed in four days, want %d", passed, want)
			}
		})
	}
}
