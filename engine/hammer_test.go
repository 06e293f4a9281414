package engine_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// Requests that come one upon the other, many of them with a pour, while the answers to others are being
// archived, and the same conversation through two engines: every answer is booked once, and no budget stays
// reserved.
func TestNoAnswerIsGivenUpUnderLoad(t *testing.T) {
	k := newDialogue(t, hammered(t))
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000})
	other, err := engine.New(k.store, hammered(t))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	k.user("Do the work.")
	least := testkit.Depth(60, 100)
	requests, pours, sent := 0, 0, 0
	var answers sync.WaitGroup
	for ; requests < least || pours < least/20; requests++ { // how many are poured depends on when the answers come
		n := requests
		lines := []int{1, 1, 70}[n%3] // two that bring nothing to pour, and may be archived together
		k.round(n, strings.Repeat(fmt.Sprintf("line of step %d, alpha, beta\n", n), lines))
		e := k.engine
		if n%10 == 9 {
			e = other
		}
		p, err := e.Prepare(t.Context(), &engine.Request{Session: k.session, Body: k.body()})
		if err != nil {
			t.Fatalf("request %d: %v", n+1, err)
		}
		if p.Report.Reason != "" {
			pours++
		}
		if status, answer := k.post(p); status != 200 {
			t.Fatalf("request %d: status %d: %s", n+1, status, answer)
		}
		usage := k.sandbox.Log.Last().Usage
		sent += usage.Context()
		k.last = p
		answers.Go(func() {
			e.Finish(p, engine.Response{Status: 200, Usage: usage, Content: []byte(`[{"type":"text","text":"noted"}]`), Stop: "end_turn"})
		})
	}
	answers.Wait()
	other.Close()
	k.engine.Close()
	k.allBooked(requests, sent)
	// What the budget could come to is in the error of a request that asks for all of it.
	long := regexp.MustCompile(`"max_tokens":\d+`).ReplaceAll(k.body(), fmt.Appendf(nil, `"max_tokens":%d`, hammeredTokens))
	_, err = k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: long})
	var over *budget.Error
	if !errors.As(err, &over) {
		t.Fatalf("a request for %d tokens: %v", hammeredTokens, err)
	}
	if held := over.Tokens - sent - hammeredTokens; held < 0 || held > k.sandbox.Log.Last().Usage.Context()+10_000 {
		t.Errorf("%d tokens are held for a request and what was answered; %d were used", held, sent)
	}
}

// allBooked fails the test when not just so many requests are booked, with so many tokens.
func (k *dialogue) allBooked(requests, tokens int) {
	k.Helper()
	totals, err := k.store.(store.Log).Spending(k.Context(), store.SpendQuery{})
	if err != nil {
		k.Fatal(err)
	}
	booked := store.Total{}
	for i := range totals {
		booked.Calls, booked.Usage = booked.Calls+totals[i].Calls, booked.Usage.Add(totals[i].Usage)
	}
	if booked.Calls != requests || booked.Usage.Context() != tokens {
		k.Errorf("%d of %d answers are booked, %d of %d tokens", booked.Calls, requests, booked.Usage.Context(), tokens)
	}
}

// hammeredTokens holds all requests, of which the more are sent the less was poured in time.
const hammeredTokens = 5_000_000

// hammered returns options with a budget.
func hammered(t *testing.T) engine.Options {
	return engine.Options{
		Window: 10_000, Preset: small(), Timeouts: sandboxtest.Patient, Logger: testkit.StrictLog(t),
		Budgets: []budget.Budget{{Per: "conversation", Tokens: hammeredTokens}},
	}
}

// An answer whose commit always comes too late is booked all the same; what the request brought comes back
// with the next one.
func TestAnAnswerIsBookedWhateverComesBetween(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	db := &broken{Store: k.store}
	k.store = db
	k.start(engine.Options{})
	k.user("Do the work.")
	k.mustSend()
	db.commit = store.ErrConflict
	k.round(1, "one")
	k.mustSend()
	if n := len(k.state().Chain); n != 1 {
		t.Fatalf("%d entries are stored, want 1", n)
	}
	db.commit = nil
	k.round(2, "two")
	k.mustSend()
	totals, err := db.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(totals) != 1 || totals[0].Calls != 3 || len(k.state().Chain) != 7 {
		t.Errorf("booked %+v, stored %d entries; want 3 calls and 7 entries", totals, len(k.state().Chain))
	}
}
