package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/testkit"
)

// till is an engine with budgets, and what it said.
type till struct {
	t      *testing.T
	db     store.Store
	engine *engine.Engine
	now    *clock
	mu     sync.Mutex
	said   []string

	budgets []budget.Budget
	faults  bool // are expected
}

func newTill(t *testing.T, budgets ...budget.Budget) *till {
	t.Helper()
	return newTillFor(t, time.Minute, budgets...)
}

// newTillFor is a till at which a request waits so long for others to be settled.
func newTillFor(t *testing.T, patience time.Duration, budgets ...budget.Budget) *till {
	t.Helper()
	db := emptyStore(t)
	x := &till{t: t, db: db, budgets: budgets, now: newClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}
	x.start(db, patience)
	return x
}

// start gives the till an engine on a store.
func (x *till) start(s engine.Store, patience time.Duration) {
	x.t.Helper()
	x.engine = newEngine(x.t, s, engine.Options{
		Budgets: x.budgets, Now: x.now.Now, Timeouts: engine.Timeouts{Optional: patience, Required: time.Minute},
		Logger: testkit.Log(func(level slog.Level, line string) {
			if level >= slog.LevelError && !x.faults {
				x.t.Errorf("logged: %s", line)
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			x.said = append(x.said, line)
		}),
	})
}

// newEngine returns an engine that is closed with the test.
func newEngine(t *testing.T, s engine.Store, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
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
	synctest.Test(t, func(t *testing.T) {
		x := newTillFor(t, 5*time.Second, budget.Budget{Per: "day", Tokens: 5000}) // nothing is settled here
		var wg sync.WaitGroup
		var mu sync.Mutex
		var passed []*engine.Prepared
		for i := range 12 {
			wg.Go(func() {
				p, err := x.ask(fmt.Sprint("s", i))
				mu.Lock()
				defer mu.Unlock()
				var over *budget.Error
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
	})
}

func TestReservationIsSettledByWhatWasSpent(t *testing.T) {
	x := newTill(t, budget.Budget{Per: "tenant", Tokens: 5000})
	for i := range 20 { // each reserves a thousand and uses ten
		p, err := x.ask(fmt.Sprint("s", i))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		x.answer(p, 10)
	}
}

func TestFailedRequestsCostNothing(t *testing.T) {
	x := newTill(t, budget.Budget{Per: "day", Tokens: 2500})
	for i := range 10 {
		p, err := x.ask(fmt.Sprint("s", i))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		x.engine.Finish(p, engine.Response{Status: 529})
	}
}

func TestBudgetWarnsOnceAndThenStops(t *testing.T) {
	x := newTill(t, budget.Budget{Per: "conversation", USD: 0.0315})
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
	if n := strings.Count(strings.Join(x.said, "\n"), "budget is spent"); n != 1 {
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
			x := newTill(t, budget.Budget{Per: per, Tokens: 5000})
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

// A budget of a month begins anew with the next one, UTC.
func TestAMonthEnds(t *testing.T) {
	x := newTill(t, budget.Budget{Per: "month", Tokens: 5000})
	x.now.pass(9 * 24 * time.Hour) // 29 November
	passed := []int{}
	for range 4 {
		passed = append(passed, 0)
		for n := range 3 {
			p, err := x.ask(fmt.Sprint(len(passed), n))
			if err == nil {
				passed[len(passed)-1]++
				x.answer(p, 2200)
			} else if !strings.Contains(err.Error(), "wait until the first of the next month") {
				t.Error(err)
			}
		}
		x.now.pass(24 * time.Hour)
	}
	if want := []int{2, 0, 2, 0}; !slices.Equal(passed, want) {
		t.Errorf("requests that passed from 29 November on: %v, want %v", passed, want)
	}
}

// What another process has booked counts, from a second later on.
func TestBudgetCountsWhatAnotherProcessBooks(t *testing.T) {
	x := newTill(t, budget.Budget{Per: "day", Tokens: 20_000})
	p, err := x.ask("first")
	if err != nil {
		t.Fatal(err)
	}
	x.answer(p, 2000)
	other := newEngine(t, x.db, engine.Options{Now: x.now.Now})
	q, err := other.Prepare(t.Context(), &engine.Request{Session: "other", Body: []byte(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	other.Finish(q, engine.Response{Status: 200, Usage: decant.Usage{Input: 19_000, Output: 10}})
	other.Close()
	x.now.pass(2 * time.Second)
	var over *budget.Error
	if _, err := x.ask("second"); !errors.As(err, &over) || over.Tokens < 21_000 {
		t.Errorf("got %v, want a refusal by what the other process has booked", err)
	}
}

// A store that fails stops no agent, and opens no budget that is known to be spent.
func TestBudgetWhileTheStoreFails(t *testing.T) {
	x := newTill(t, budget.Budget{Per: "day", Tokens: 6000})
	b := &unsummed{Store: x.db}
	x.faults = true
	x.start(b, time.Minute)
	b.fails = true
	for n := range 2 {
		p, err := x.ask(fmt.Sprint("s", n))
		if err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		x.answer(p, 2200)
	}
	b.fails = false
	if p, err := x.ask("known"); err != nil {
		t.Fatal(err)
	} else {
		x.engine.Finish(p, engine.Response{Status: 529})
	}
	b.fails = true
	for n := range 4 {
		p, err := x.ask(fmt.Sprint("later", n))
		if over := (*budget.Error)(nil); errors.As(err, &over) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		x.answer(p, 2200)
	}
	t.Error("the budget holds no longer when the store fails")
}

// unsummed is a store that cannot say what was spent.
type unsummed struct {
	engine.Store
	fails bool
}

func (u *unsummed) Spent(ctx context.Context, q store.SpendQuery) (store.Sum, error) {
	if u.fails {
		return store.Sum{}, store.ErrCorrupt
	}
	return u.Store.Spent(ctx, q)
}

// unmatched is a store that finds no conversation in time.
type unmatched struct{ store.Store }

func (unmatched) Match(context.Context, string, string, []decant.Hash) (store.Match, error) {
	return store.Match{}, context.DeadlineExceeded
}

// A conversation that cannot be looked up does not make a request free: what it may cost is held back, and what it cost is booked.
func TestBudgetHoldsForConversationsThatAreNotFound(t *testing.T) {
	x := newTill(t, budget.Budget{Per: "tenant", Tokens: 3000})
	x.faults = true
	x.start(unmatched{x.db}, time.Millisecond)
	var passed []*engine.Prepared
	for i := range 5 {
		p, err := x.ask(fmt.Sprint("s", i))
		if over := (*budget.Error)(nil); errors.As(err, &over) {
			break
		}
		if err != nil || p.Fault == nil {
			t.Fatalf("%v, fault %v", err, p)
		}
		passed = append(passed, p)
	}
	if len(passed) != 2 {
		t.Fatalf("%d requests of about 1,100 tokens were let through within 3,000, want 2", len(passed))
	}
	for _, p := range passed {
		x.answer(p, 1000)
	}
	if _, err := x.ask("more"); !errors.As(err, new(*budget.Error)) {
		t.Errorf("2,000 tokens are spent, and the next request: %v", err)
	}
	x.engine.Finish(passed[0], engine.Response{Status: 200, Usage: decant.Usage{Input: 1}}) // does nothing
	spent, err := x.db.Spent(t.Context(), store.SpendQuery{})
	if err != nil || spent.Tokens != 2*1010 {
		t.Errorf("spent: %+v, %v; want 2,020 tokens", spent, err)
	}
}
