package owncalls_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/purse"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// says answers everything with one text.
type says string

func (s says) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: string(s)}}}, nil
}

// A world is a caller with a database, whose configured account is a sandbox on loopback.
type world struct {
	*owncalls.Caller
	t       *testing.T
	db      store.Store
	sandbox *sandbox.Server
	now     atomic.Int64

	mu    sync.Mutex
	made  []owncalls.Call
	lines []string
}

const ownKey = "sk-ant-own-0123456789"

func newWorld(t *testing.T, change func(*world, *owncalls.Options)) *world {
	t.Helper()
	w := &world{t: t, sandbox: sandbox.New(sandbox.Options{Model: says("It is so.")})}
	w.now.Store(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC).UnixNano())
	var err error
	if w.db, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	o := owncalls.Options{
		Account: w.account(w.sandbox, ownKey), Ledger: w.db, Now: func() time.Time { return time.Unix(0, w.now.Load()) },
		Made: func(c owncalls.Call) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.made = append(w.made, c)
		},
		Logger: testkit.Log(func(_ slog.Level, line string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lines = append(w.lines, line)
		}),
	}
	if change != nil {
		change(w, &o)
	}
	if w.Caller, err = owncalls.NewCaller(o); err != nil {
		t.Fatal(err)
	}
	return w
}

// account returns an account at a provider on loopback.
func (w *world) account(h http.Handler, key string) *provider.Account {
	w.t.Helper()
	srv := httptest.NewServer(h)
	over := &http.Transport{}
	w.t.Cleanup(func() {
		over.CloseIdleConnections()
		srv.Close()
	})
	c, err := anthropic.New(anthropic.Options{Base: srv.URL, Transport: over, Credential: provider.Key("x-api-key", key)})
	if err != nil {
		w.t.Fatal(err)
	}
	return &provider.Account{Client: c, Upstream: srv.URL, Model: "claude-haiku-4-5"}
}

func (w *world) pass(d time.Duration) { w.now.Add(int64(d)) }

// spent returns what is in the ledger of a conversation.
func (w *world) spent(conversation string) (out store.Total) {
	w.t.Helper()
	totals, err := w.db.Spending(w.t.Context(), store.SpendQuery{Tenant: "alice", Conversation: conversation})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, t := range totals {
		out.Model, out.Own, out.Calls = t.Model, out.Own+t.Own, out.Calls+t.Calls
		out.Usage, out.OwnCost = out.Usage.Add(t.Usage), out.OwnCost+t.OwnCost
	}
	return out
}

func about(conversation string) owncalls.Cause {
	return owncalls.Cause{Conversation: store.Key{Tenant: "alice", ID: conversation}, Purpose: owncalls.ForRecord}
}

func prompt() *provider.Request {
	return &provider.Request{System: "Be short.", Prompt: "What is it?", MaxTokens: 100, Cool: true}
}

// A key that is not taken, and a model that there is none of, are asked for once in half an hour, and not for every segment. Another model
// of the same account is asked all the same.
func TestWhatIsRefusedIsNotAskedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		model  string // that is asked after the refusal
		more   int32
	}{
		"a key that is not taken": {401, "claude-sonnet-5", 0},
		"a key without the right": {403, "claude-haiku-4-5", 0},
		"no such model":           {404, "claude-haiku-4-5", 0},
		"another model":           {404, "claude-sonnet-5", 1},
		"a request that is wrong": {400, "claude-haiku-4-5", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			w := newWorld(t, func(w *world, o *owncalls.Options) {
				o.Account = w.account(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
					calls.Add(1)
					rw.WriteHeader(tc.status)
					fmt.Fprint(rw, `{"type":"error","error":{"type":"some_error","message":"no"}}`)
				}), ownKey)
			})
			if _, err := w.Ask(t.Context(), about("c1"), prompt()); !errors.Is(err, provider.ErrRefused) {
				t.Fatalf("%v, want a refusal", err)
			}
			before := calls.Load()
			again := prompt()
			again.Model = tc.model
			if _, err := w.Ask(t.Context(), about("c2"), again); !errors.Is(err, provider.ErrRefused) {
				t.Errorf("%v, want a refusal", err)
			}
			if got := calls.Load() - before; got != tc.more {
				t.Errorf("%d more calls, want %d", got, tc.more)
			}
			w.pass(time.Hour)
			before = calls.Load()
			w.Ask(t.Context(), about("c3"), prompt())
			if calls.Load() == before {
				t.Error("an hour later nobody is asked")
			}
		})
	}
}

// An own call is in the ledger of its conversation, with its model, its usage and its price; it is told of without content.
func TestAnOwnCallIsBooked(t *testing.T) {
	w := newWorld(t, nil)
	a, err := w.Ask(t.Context(), about("c1"), prompt())
	if err != nil || a.Text != "It is so." {
		t.Fatalf("%+v, %v", a, err)
	}
	got := w.spent("c1")
	want := store.Money(a.Usage.Input*1000 + a.Usage.Output*5000) // $1 and $5 for a million tokens
	if got.Own != 1 || got.Calls != 0 || got.Model != "claude-haiku-4-5" || got.Usage != a.Usage || got.OwnCost != want || want == 0 {
		t.Errorf("booked %+v, want %v for %+v", got, want, a.Usage)
	}
	if len(w.made) != 1 || w.made[0].Outcome != "answered" || w.made[0].Cost != want || w.made[0].Model != "claude-haiku-4-5" || w.made[0].Purpose != owncalls.ForRecord {
		t.Errorf("told of %+v", w.made)
	}
	line := strings.Join(w.lines, "\n")
	for _, want := range []string{"purpose=record", "conversation=c1", "model=claude-haiku-4-5", "outcome=answered", "output_tokens="} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	for _, no := range []string{"It is so", "What is it", ownKey} {
		if strings.Contains(line+fmt.Sprint(w.made), no) {
			t.Errorf("%s is in %s", no, line)
		}
	}
}

// An answer that is of no use is paid for, so it is booked as far as its price is known.
func TestWhatIsOfNoUseIsBookedToo(t *testing.T) {
	w := newWorld(t, nil)
	w.sandbox.Inject(sandbox.Fault{Kind: sandbox.FaultStreamError, After: 3})
	body := []byte(`{"model":"claude-haiku-4-5","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"What is it?"}]}`)
	a, err := w.Ask(t.Context(), about("c1"), &provider.Request{Model: "claude-haiku-4-5", Body: body})
	if err == nil || a == nil || a.Text != "" || a.Usage.Input == 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	if got := w.spent("c1"); got.Own != 1 || got.Usage != a.Usage || got.OwnCost == 0 {
		t.Errorf("booked %+v", got)
	}
	if got := w.made[0].Outcome; got != "failed" {
		t.Errorf("outcome %q", got)
	}
	if _, err := w.Ask(t.Context(), about("c2"), &provider.Request{Model: "no-such-model", Prompt: "x", MaxTokens: 5}); !errors.Is(err, provider.ErrRefused) {
		t.Error(err)
	}
	if got := w.spent("c2"); got.Own != 0 {
		t.Errorf("booked %+v", got)
	}
}

// After 24 calls in ten minutes a tenant has none for half an hour; others have theirs.
func TestTheCapOfRate(t *testing.T) {
	w := newWorld(t, nil)
	ask := func(tenant string) error {
		c := about("c")
		c.Conversation.Tenant = tenant
		_, err := w.Ask(t.Context(), c, prompt())
		return err
	}
	for i := range 24 {
		if err := ask("alice"); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		w.pass(20 * time.Second)
	}
	for range 3 {
		if err := ask("alice"); !errors.Is(err, owncalls.ErrResting) {
			t.Error(err)
		}
	}
	if err := ask("bob"); err != nil {
		t.Error(err)
	}
	w.pass(29 * time.Minute)
	if err := ask("alice"); !errors.Is(err, owncalls.ErrResting) {
		t.Error(err)
	}
	w.pass(time.Minute)
	if err := ask("alice"); err != nil {
		t.Error(err)
	}
	if n := len(w.sandbox.Log.Entries()); n != 26 {
		t.Errorf("%d calls were made", n)
	}
}

// Calls that keep a cache warm take half of the cap at most, and are no reason to make none for a while.
func TestWhatKeepsWarmLeavesRoom(t *testing.T) {
	w := newWorld(t, func(_ *world, o *owncalls.Options) { o.Cap = owncalls.Cap{Calls: 4, Hour: -1, Day: -1} })
	ask := func(p owncalls.Purpose) error {
		c := about("c")
		c.Purpose = p
		_, err := w.Ask(t.Context(), c, prompt())
		return err
	}
	for n, want := range []bool{true, true, false, false} {
		if err := ask(owncalls.ForCache); errors.Is(err, owncalls.ErrResting) == want {
			t.Errorf("call %d: %v", n+1, err)
		}
	}
	for range 2 {
		if err := ask(owncalls.ForRecord); err != nil {
			t.Error(err)
		}
	}
	if err := ask(owncalls.ForRecord); !errors.Is(err, owncalls.ErrResting) {
		t.Errorf("beyond the cap: %v", err)
	}
}

// A cap of cost counts what calls under way may cost, so that calls side by side cannot exceed it together.
func TestTheCapOfCost(t *testing.T) {
	const each = 0.0101 // 2,000 tokens of output at $5 for a million, and a little for the prompt
	w := newWorld(t, func(_ *world, o *owncalls.Options) { o.Cap = owncalls.Cap{Calls: -1, Hour: 5 * each, Day: -1} })
	var made, rested atomic.Int32
	var work sync.WaitGroup
	start := make(chan struct{})
	for range 40 {
		work.Go(func() {
			r := prompt()
			r.MaxTokens = 2000
			<-start
			switch _, err := w.Ask(t.Context(), about("c"), r); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, owncalls.ErrResting):
				rested.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	close(start)
	work.Wait()
	if got := w.spent("c"); got.OwnCost.USD() > 5*each || made.Load() == 0 || rested.Load() == 0 {
		t.Errorf("$%g were spent by %d calls, %d rested", got.OwnCost.USD(), made.Load(), rested.Load())
	}
}

// Money is held back before a call, so that calls side by side cannot exceed a budget together, and a tenant's own budget
// holds as well as the engine's.
func TestBudgetsHoldForOwnCalls(t *testing.T) {
	for name, of := range map[string]bool{"of all": false, "of a tenant": true} {
		limit := budget.Budget{Per: "day", Tokens: 1000}
		w := newWorld(t, func(w *world, o *owncalls.Options) {
			o.Purse, o.Cap.Calls = purse.New(w.db, o.Now, slog.New(slog.DiscardHandler)), -1
			if of {
				o.Of = func(string) []budget.Budget { return []budget.Budget{limit} }
			} else {
				o.Budgets = []budget.Budget{limit}
			}
		})
		var made, refused atomic.Int32
		var work sync.WaitGroup
		for range 40 {
			work.Go(func() {
				over := (*budget.Error)(nil)
				switch _, err := w.Ask(t.Context(), about("c"), prompt()); {
				case err == nil:
					made.Add(1)
				case errors.As(err, &over) && over.Own == of:
					refused.Add(1)
				default:
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		work.Wait()
		got := w.spent("c").Usage.Context()
		if got > 1000 || made.Load() == 0 || refused.Load() == 0 || w.made[len(w.made)-1].Outcome == "" {
			t.Errorf("%s: %d tokens by %d calls, %d refused", name, got, made.Load(), refused.Load())
		}
	}
}

// What goes on from a client's request goes to that client's provider with its own credential, or where that is not known
// with the configured one if it shares that provider's cache, or nowhere. A prompt of ours has the configured one.
func TestWhoseCredential(t *testing.T) {
	own := sandbox.New(sandbox.Options{Model: says("Mine."), Keys: []string{"sk-client"}})
	known := true
	var conf *provider.Account
	w := newWorld(t, func(w *world, o *owncalls.Options) {
		conf = o.Account
		theirs := w.account(own, "sk-client")
		o.Accounts = func(c owncalls.Cause) *provider.Account {
			if !known || c.Conversation.ID != "c1" {
				return nil
			}
			return theirs
		}
	})
	body := &provider.Request{Model: "claude-haiku-4-5", Body: []byte(`{"model":"claude-haiku-4-5","max_tokens":10,"messages":[{"role":"user","content":"x"}]}`)}
	ask := func(cause owncalls.Cause, r *provider.Request) string {
		a, err := w.Ask(t.Context(), cause, r)
		if err != nil {
			return err.Error()
		}
		return a.Text
	}
	elsewhere := func(id string) owncalls.Cause {
		c := about(id)
		c.Upstream = "http://elsewhere"
		return c
	}
	for _, tt := range []struct {
		cause owncalls.Cause
		r     *provider.Request
		want  string
	}{
		{elsewhere("c1"), body, "Mine."}, {elsewhere("c1"), prompt(), "It is so."}, {about("c2"), body, "It is so."},
		{elsewhere("c2"), body, "own call for record: no credential for own calls"},
	} {
		if got := ask(tt.cause, tt.r); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.cause, got, tt.want)
		}
	}
	known = false
	if got := ask(elsewhere("c1"), body); !strings.Contains(got, "no credential") {
		t.Error(got)
	}
	at := about("c1")
	at.Upstream = conf.Upstream // a key of another workspace pays for the whole prompt once more, unless somebody says that it does not
	for _, shared := range []bool{false, true} {
		conf.Shared = shared
		if got := ask(at, body); strings.Contains(got, "no credential") == shared {
			t.Errorf("shared %v: %s", shared, got)
		}
	}
}

// A call that could not be booked is booked with the next one.
func TestTheLedgerCatchesUp(t *testing.T) {
	l := &broken{}
	w := newWorld(t, func(w *world, o *owncalls.Options) { l.to, o.Ledger = w.db, l })
	l.fails.Store(true)
	for range 3 {
		if _, err := w.Ask(t.Context(), about("c"), prompt()); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.spent("c"); got.Own != 0 {
		t.Fatalf("%+v", got)
	}
	l.fails.Store(false)
	if _, err := w.Ask(t.Context(), about("c"), prompt()); err != nil {
		t.Fatal(err)
	}
	if got := w.spent("c"); got.Own != 4 {
		t.Errorf("%+v", got)
	}
}

// broken is a ledger that can fail.
type broken struct {
	to    owncalls.Ledger
	fails atomic.Bool
}

func (b *broken) Book(ctx context.Context, k store.Key, spends []store.Spend) error {
	if b.fails.Load() {
		return errors.New("no space left")
	}
	return b.to.Book(ctx, k, spends)
}

// A call that runs out of time counts towards the cap at the most that it may have cost, and is not in the ledger: nothing was
// reported of it.
func TestACallWithoutReport(t *testing.T) {
	w := newWorld(t, func(_ *world, o *owncalls.Options) {
		o.Timeout, o.Cap = 20*time.Millisecond, owncalls.Cap{Hour: 0.0007}
	})
	w.sandbox.Inject(sandbox.Fault{Kind: sandbox.FaultStall})
	if _, err := w.Ask(t.Context(), about("c"), prompt()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := w.Ask(t.Context(), about("c"), prompt()); !errors.Is(err, owncalls.ErrResting) {
		t.Error(err)
	}
	if got := w.spent("c"); got.Own != 0 {
		t.Errorf("%+v", got)
	}
}

// An answer of which its server reports no usage is booked as estimated.
func TestAnAnswerWithoutUsage(t *testing.T) {
	w := newWorld(t, func(w *world, o *owncalls.Options) {
		o.Account = w.account(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"content":[{"type":"text","text":"It is so, and not otherwise."}],"stop_reason":"end_turn"}`)
		}), ownKey)
	})
	if _, err := w.Ask(t.Context(), about("c"), prompt()); err != nil {
		t.Fatal(err)
	}
	if got := w.spent("c"); got.Own != 1 || got.Usage.Input < 5 || got.Usage.Output < 5 || got.Usage.Context() > 200 {
		t.Errorf("%+v", got)
	}
}

// A cap of a session or a day holds over processes: what others on the same ledger have spent counts. Another conversation
// has its own session.
func TestTheCapOfASessionHoldsOverProcesses(t *testing.T) {
	usual := *prompt()
	first := newWorld(t, nil)
	if _, err := first.Ask(t.Context(), about("c"), &usual); err != nil {
		t.Fatal(err)
	}
	each := first.spent("c").OwnCost.USD()
	most := each + .00051 + each // of a call, at most: 100 tokens of output, and a little for the prompt
	for _, of := range []owncalls.Cap{{Calls: -1, Hour: -1, Day: -1, Session: each + most}, {Calls: -1, Hour: -1, Day: each + most}} {
		ask := func(conversation string) error {
			caller, err := owncalls.NewCaller(owncalls.Options{Account: first.account(first.sandbox, ownKey), Ledger: first.db, Cap: of})
			if err != nil {
				t.Fatal(err)
			}
			_, err = caller.Ask(t.Context(), about(conversation), &usual)
			return err
		}
		made := 0
		for range 20 {
			switch err := ask("c"); {
			case err == nil:
				made++
			case !errors.Is(err, owncalls.ErrResting):
				t.Fatal(err)
			}
		}
		if spent := first.spent("c").OwnCost.USD(); made > 3 || spent > each+most {
			t.Errorf("%+v: %d calls were made, $%.5f spent", of, made, spent)
		}
		if err := ask("another"); (err == nil) != (of.Session > 0) {
			t.Errorf("%+v: another conversation: %v", of, err)
		}
	}
}
