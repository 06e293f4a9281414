package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/wire"
)

// priced is an upstream that reports the same usage for everything.
func priced(input, output int) http.Handler {
	return handler(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		answerWith(w, input, output)
	})
}

func answerWith(w http.ResponseWriter, input, output int) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`, input, output)
}

// till is a gateway with budgets, and what it said.
type till struct {
	*world
	mu   sync.Mutex
	said []string
}

// noon is when all requests are made.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func newTill(t *testing.T, upstream http.Handler, o gateway.Options, budgets ...budget.Budget) *till {
	t.Helper()
	x := &till{}
	x.world = newWorld(t, upstream, o, engine.Options{
		Budgets: budgets, Timeouts: sandboxtest.Patient, Now: func() time.Time { return noon },
		Logger: testkit.Log(func(level slog.Level, line string) {
			if level >= slog.LevelError {
				t.Errorf("logged: %s", line)
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			x.said = append(x.said, line)
		}),
	})
	return x
}

// ask asks a question of about 10 tokens as the official client does, for an answer of at most 90.
func (x *till) ask(t *testing.T, session string, header ...string) error {
	opts := []option.RequestOption{option.WithHeader("X-Decant-Session", session)}
	for i := 0; i+1 < len(header); i += 2 {
		opts = append(opts, option.WithHeader(header[i], header[i+1]))
	}
	client := x.sdk(append(opts, option.WithMaxRetries(2))...)
	_, err := client.Messages.New(t.Context(), anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 90,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("What is the answer to " + session + "?"))},
	})
	return err
}

// refused reports whether a request was refused because of a budget, in the API's own shape.
func refused(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	var e *anthropic.Error
	if !errors.As(err, &e) || e.StatusCode != http.StatusPaymentRequired || e.Type() != "billing_error" {
		t.Errorf("the client understands %v, want a billing error with status 402", err)
	}
	return true
}

func TestABudgetThatIsSpentStopsRequests(t *testing.T) {
	for _, c := range []struct {
		budget budget.Budget
		header [2]string // of a request that falls under another budget
		says   []string
	}{
		{budget.Budget{Per: "day", Tokens: 3000}, [2]string{"X-Decant-Key", bobKey}, []string{"the day's budget of 3000 tokens", "raise tokens under budgets", "00:00 UTC"}},
		{budget.Budget{Per: "tenant", Tokens: 3000}, [2]string{"X-Decant-Key", bobKey}, []string{"the tenant's budget of 3000 tokens", "raise tokens under budgets"}},
		{budget.Budget{Per: "conversation", Tokens: 3000}, [2]string{"X-Decant-Session", "another"}, []string{"the conversation's budget", "begin another conversation"}},
		{budget.Budget{Per: "day", USD: 0.012}, [2]string{"X-Decant-Key", bobKey}, []string{"the day's budget of $0.0120", "raise usd under budgets"}},
		{budget.Budget{Per: "tenant", USD: 0.012}, [2]string{"X-Decant-Key", bobKey}, []string{"the tenant's budget of $0.0120", "raise usd under budgets"}},
		{budget.Budget{Per: "conversation", USD: 0.012}, [2]string{"X-Decant-Session", "another"}, []string{"the conversation's budget of $0.0120", "raise usd under budgets"}},
	} {
		t.Run(fmt.Sprintf("%s/tokens=%t", c.budget.Per, c.budget.Tokens > 0), func(t *testing.T) {
			var arrived atomic.Int64
			up := priced(250, 20) // $0.00105 each
			x := newTill(t, handler(func(w http.ResponseWriter, r *http.Request) { arrived.Add(1); up.ServeHTTP(w, r) }), gateway.Options{Keys: keys}, c.budget)
			passed := 0
			var err error
			for range 20 {
				if err = x.ask(t, "s", "X-Decant-Key", aliceKey); refused(t, err) {
					break
				}
				passed++
			}
			if passed != 10 || arrived.Load() != 10 {
				t.Errorf("%d requests passed and %d arrived, want 10: %v", passed, arrived.Load(), err)
			}
			for _, want := range c.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the client reads %v, want %q in it", err, want)
				}
			}
			x.engine.Close() // what it says while it archives is said
			if n := len(x.said); n != 1 || !strings.Contains(x.said[0], "percent=8") && !strings.Contains(x.said[0], "percent=9") {
				t.Errorf("said %q, want one warning", x.said)
			}
			if err := x.ask(t, "t", append([]string{"X-Decant-Key", aliceKey}, c.header[:]...)...); err != nil {
				t.Errorf("what falls under another budget is refused: %v", err)
			}
		})
	}
}

func TestNoBudgetUnlessOneIsSet(t *testing.T) {
	x := newTill(t, priced(1_000_000, 100_000), gateway.Options{})
	for range 5 {
		if err := x.ask(t, "s"); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.said) > 0 {
		t.Errorf("said %q", x.said)
	}
}

// Sixteen clients at once and a budget for three: no more than three requests are under way at any
// time, and what is booked at the end is within the budget.
func TestParallelRequestsDoNotOverrunABudget(t *testing.T) {
	const limit = 330 // three times 10 and 90 tokens, and a little
	var under, most, arrived atomic.Int64
	up := handler(func(w http.ResponseWriter, r *http.Request) {
		n := under.Add(1)
		defer under.Add(-1)
		arrived.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		io.Copy(io.Discard, r.Body)
		answerWith(w, 20, 80) // the worst that can be
	})
	x := newTill(t, up, gateway.Options{}, budget.Budget{Per: "day", Tokens: limit})
	var wg sync.WaitGroup
	var passed atomic.Int64
	for i := range 16 {
		wg.Go(func() {
			if err := x.ask(t, fmt.Sprint("s", i)); !refused(t, err) {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	if n := passed.Load(); n == 0 || n > 3 || n != arrived.Load() || most.Load() > 3 {
		t.Errorf("%d requests passed, %d arrived, %d at once; want 1 to 3", n, arrived.Load(), most.Load())
	}
	if n := x.booked(t); n > limit {
		t.Errorf("booked %d tokens within a budget of %d", n, limit)
	}
}

func (x *till) booked(t *testing.T) (n int) {
	t.Helper()
	x.engine.Close()
	totals, err := x.store.Spending(t.Context(), store.SpendQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range totals {
		n += totals[i].Usage.Context()
	}
	return n
}

// A request holds back 100 tokens and more of a budget of 150: the next one waits until it is known
// what it did cost, and passes.
func TestWhatWasHeldBackIsSettledByWhatWasSpent(t *testing.T) {
	x := newTill(t, priced(5, 5), gateway.Options{}, budget.Budget{Per: "day", Tokens: 150})
	for i := range 4 {
		if err := x.ask(t, fmt.Sprint("s", i)); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
}

// There is room for one request. What it holds back is free again however it fails.
func TestARequestThatFailsHoldsNothingBack(t *testing.T) {
	for _, c := range []struct {
		name string
		fail http.HandlerFunc
	}{
		{"Refused", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "{}", 400) }},
		{"Overloaded", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "{}", 529) }},
		{"NoAnswer", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }},
		{"CutAnswer", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"id":"msg`)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fine atomic.Bool
			up := priced(5, 5)
			x := newTill(t, handler(func(w http.ResponseWriter, r *http.Request) {
				if fine.Load() {
					up.ServeHTTP(w, r)
					return
				}
				c.fail(w, r)
			}), gateway.Options{}, budget.Budget{Per: "day", Tokens: 150})
			client := x.sdk()
			ask := func() error {
				_, err := client.Messages.New(t.Context(), anthropic.MessageNewParams{
					Model: "claude-sonnet-4-5", MaxTokens: 90, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello."))},
				})
				return err
			}
			for range 3 {
				var e *anthropic.Error
				if err := ask(); err == nil || errors.As(err, &e) && e.StatusCode == http.StatusPaymentRequired {
					t.Fatalf("got %v, want the upstream's failure", err)
				}
			}
			fine.Store(true)
			if err := ask(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A recorded session whose window is large enough for all of it: nothing is poured. With a budget that
// it nearly spends, it is.
func TestANearlySpentBudgetPoursEarlier(t *testing.T) {
	conv := recorded.Session(t, recorded.Claude).Conversation
	conv.Model, conv.MaxOutput = "claude-sonnet-4-5", 4000
	without := play(t, conv, budget.Budget{})
	if without.pours > 0 || without.refused > 0 {
		t.Fatalf("without a budget there are %d pours and %d refusals, want none", without.pours, without.refused)
	}
	with := play(t, conv, budget.Budget{Per: "conversation", Tokens: without.tokens * 9 / 10})
	if with.pours == 0 {
		t.Error("no pour with a budget that was nearly spent")
	}
	if with.answered < without.answered || with.peak >= without.peak {
		t.Errorf("%d requests answered with a budget, %d without it; the last prompts have %d tokens with it and %d without",
			with.answered, without.answered, with.peak, without.peak)
	}
	t.Logf("without %+v, with %+v", without, with)
}

// played is how a session went.
type played struct{ answered, refused, pours, tokens, peak int }

// play sends the requests of a session to a strict upstream.
func play(t *testing.T, conv *decant.Conversation, b budget.Budget) (out played) {
	up := strict(sandbox.Options{Window: 400_000, Now: func() time.Time { return noon }})
	var budgets []budget.Budget
	if b != (budget.Budget{}) {
		budgets = append(budgets, b)
	}
	x := newWorld(t, up, gateway.Options{}, engine.Options{Window: 400_000, NoEarlyPours: true, Budgets: budgets, Now: func() time.Time { return noon }})
	for i := 1; i < len(conv.Messages); i++ {
		if conv.Messages[i].Role != decant.RoleAssistant || conv.Messages[i-1].Role == decant.RoleAssistant {
			continue
		}
		body, err := wire.Encode(conv.With(conv.Messages[:i]), wire.Anthropic)
		if err != nil {
			t.Fatal(err)
		}
		res, text := x.post(x.url, "/v1/messages", `{"cache_control":{"type":"ephemeral"},`+string(body[1:]), "Anthropic-Version", "2023-06-01", "X-Decant-Session", "s")
		x.engine.Close()
		switch res.StatusCode {
		case http.StatusOK:
			u := up.Log.Last().Usage
			out.answered++
			out.tokens += u.Context()
			out.peak = u.Prompt()
		case http.StatusPaymentRequired:
			out.refused++
		default:
			t.Fatalf("status %d: %s", res.StatusCode, text)
		}
	}
	x.server.Close()
	out.pours = strings.Count(x.log.String(), " pour=")
	return out
}
