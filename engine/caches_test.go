package engine_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
)

// A twin is a client that reads one file after the other, marks its prompts as it likes, and pauses
// between its requests as it likes. Beside it another client of the same provider sends the same without
// Decant: what that one pays is what the ledger's "without" must say.
type twin struct {
	*coder
	alone   *sandbox.Server
	without store.Money // what the twin has paid
	usage   decant.Usage
}

func newTwin(t *testing.T, system, end string, o sandbox.Options) *twin {
	t.Helper()
	w := &twin{coder: newCoder(t, system, end)}
	o.Window, o.Now = 400_000, w.now.Now
	w.sandbox, w.alone = newSandbox(o), newSandbox(o)
	return w
}

// after sends one more file after a pause, and lets the twin do the same.
func (w *twin) after(pause time.Duration) {
	w.Helper()
	w.now.pass(pause - 30*time.Second)
	w.step()
	through, prepared := w.sandbox, w.last
	w.sandbox = w.alone
	if status, answer := w.post(&engine.Prepared{Body: w.body()}); status != 200 {
		w.Fatalf("without Decant: status %d: %s", status, answer)
	}
	w.usage = w.alone.Log.Last().Usage
	w.sandbox, w.last = through, prepared
	m := lookup(w.model)
	w.without += priceOf(w, m, w.usage, w.now.Now())
}

func priceOf(t testing.TB, m token.Model, u decant.Usage, at time.Time) store.Money {
	t.Helper()
	p, _, ok := m.PriceAt(at)
	if !ok {
		t.Fatalf("%s has no price", m.ID)
	}
	r := p.At(u.Prompt())
	usd := float64(u.Input)*r.Input.USD + float64(u.CacheRead)*r.CacheRead.USD + float64(u.CacheWrite-u.Write1h)*r.Write5m.USD + float64(u.Write1h)*r.Write1h.USD + float64(u.Output)*r.Output.USD
	return store.Money(math.Round(usd * 1000))
}

// booked returns what the ledger says of all requests so far.
func (w *twin) booked() (sum store.Total) {
	w.Helper()
	totals, err := w.store.(store.Log).Spending(w.Context(), store.SpendQuery{})
	if err != nil {
		w.Fatal(err)
	}
	for i := range totals {
		sum.Calls += totals[i].Calls
		sum.Cost, sum.Bare = sum.Cost+totals[i].Cost, sum.Bare+totals[i].Bare
		sum.Usage, sum.Without = sum.Usage.Add(totals[i].Usage), sum.Without.Add(totals[i].Without)
	}
	return sum
}

func billingLine(n int) string {
	return fmt.Sprintf(`{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.330.98d; cc_entrypoint=cli; cc_turn_index=%d; cch=%05x;"}`, n, n*7919%0xfffff)
}

// longWords are a system prompt that is just long enough to be cached; longSystem is a block with them, without its end.
var (
	longWords  = strings.Repeat("You are a careful agent. ", 180)
	longSystem = `{"type":"text","text":"` + longWords + `"`
)

// What the ledger says that the client's own requests would have cost is what they do cost a twin without
// Decant, wherever the client puts its markers, however long it pauses and whatever the provider's cache is
// like; and when reading is cheap the planner does not rewrite as if it were not.
func TestWithoutIsWhatATwinPays(t *testing.T) {
	short, long := []time.Duration{20 * time.Second}, []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second, 10 * time.Minute}
	for _, tt := range []struct {
		name        string
		system, end string
		options     sandbox.Options
		pauses      []time.Duration
		most, least int // pours in 60 requests, at least a third of these in 30
	}{
		{"Usual", `"system":[` + longSystem + marker + `}],`, marker, sandbox.Options{}, short, 4, 1},
		{"BillingLine", `"system":[LINE,` + longSystem + marker + `}],`, marker, sandbox.Options{}, short, 4, 1},
		{"BillingLineThatCounts", `"system":[LINE,` + longSystem + marker + `}],`, marker, sandbox.Options{CountBilling: true}, short, 30, 10},
		{"SystemMarkedOnly", `"system":[` + longSystem + marker + `}],`, "", sandbox.Options{}, short, 30, 10},
		{"FirstMessageMarked", `"system":[` + longSystem + marker + `}],`, "", sandbox.Options{}, short, 30, 2},
		{"NoMarkers", `"system":[` + longSystem + `}],`, "", sandbox.Options{}, short, 30, 10},
		{"Unasked", `"system":[` + longSystem + `}],`, "", sandbox.Options{Unasked: time.Hour}, short, 5, 1},
		{"UnaskedWithPauses", `"system":[` + longSystem + `}],`, "", sandbox.Options{Unasked: time.Hour}, long, 5, 1},
		{"FiveMinutesWithPauses", `"system":[` + longSystem + marker + `}],`, marker, sandbox.Options{}, long, 20, 8},
		{"HourWithPauses", `"system":[` + longSystem + hourMarker + `}],`, hourMarker, sandbox.Options{}, long, 4, 1},
		{"MixedWithPauses", `"system":[` + longSystem + hourMarker + `}],`, marker, sandbox.Options{}, long, 20, 8},
		{"AutomaticMarker", `"cache_control":{"type":"ephemeral"},"system":[` + longSystem + marker + `}],`, "", sandbox.Options{}, short, 4, 1},
		{"AutomaticHour", `"cache_control":{"type":"ephemeral","ttl":"1h"},"system":[` + longSystem + hourMarker + `}],`, "", sandbox.Options{}, long, 4, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newTwin(t, tt.system, tt.end, tt.options)
			if tt.name == "FirstMessageMarked" {
				code := strings.Repeat("func loadPart0(ctx context.Context) error { return errors.New(partMissing0) }\n", 100)
				w.ms[0] = `{"role":"user","content":[{"type":"text","text":` + quote(code) + marker + `}]}`
			}
			pours, requests := 0, testkit.Depth(36, 60)
			for n := range requests {
				w.extra = strings.Replace(tt.system, "LINE", billingLine(n), 1)
				w.after(tt.pauses[n%len(tt.pauses)])
				if w.last.Report.Reason != "" {
					pours++
				}
			}
			t.Logf("%d pours in %d requests", pours, requests)
			if least := testkit.Depth((tt.least+2)/3, tt.least); pours < least || pours > tt.most {
				t.Errorf("%d pours in %d requests, want %d to %d", pours, requests, least, tt.most)
			}
			w.agree(requests)
		})
	}
}

// agree fails the test when the ledger does not say what the twin has paid for so many requests.
func (w *twin) agree(requests int) {
	w.Helper()
	sum := w.booked()
	if off := sum.Bare.USD()/w.without.USD() - 1; sum.Calls != requests || math.Abs(off) > 0.02 {
		w.Errorf("%d requests: without Decant they would have cost $%.4f by the ledger, $%.4f really (%+.1f%%): %+v", sum.Calls, sum.Bare.USD(), w.without.USD(), 100*off, sum.Without)
	}
	if sum.Cost >= sum.Bare {
		w.Errorf("spent $%.4f instead of $%.4f", sum.Cost.USD(), sum.Bare.USD())
	}
}

// A change of the system prompt that comes with every request and leaves the cache as it was, of whatever
// form, is believed once at most; that is known to every engine on the store.
func TestAChangeIsBelievedUntilReadsContradictIt(t *testing.T) {
	for _, known := range []int{0, 15} { // requests with one and the same line before it begins to change
		w := newTwin(t, "", marker, sandbox.Options{})
		pours, requests := map[policy.Reason]int{}, testkit.Depth(28, 60)
		for n := range requests {
			line := fmt.Sprintf(`{"type":"text","text":"x-anthropic-billing-header: turn %d of many"}`, max(known, n))
			w.extra = `"system":[` + line + `,` + longSystem + marker + `}],`
			w.after(20 * time.Second)
			pours[w.last.Report.Reason]++
			w.start(engine.Options{Window: 400_000, Now: w.now.Now})
		}
		if pours[policy.Free] > 1 || pours[policy.Paid] > 4 {
			t.Errorf("changing from request %d on: %v", known+1, pours)
		}
		w.agree(requests)
	}
}

// A text in the system prompt that changes again and again, a clock, is no free moment each time: such a client finds
// nothing in the cache whatever is done, and must not lose for that what it has read.
func TestAClockIsNoFreeMoment(t *testing.T) {
	for _, every := range []int{1, 3, 10} { // requests
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			t.Parallel()
			w := newTwin(t, "", marker, sandbox.Options{})
			pours, requests := 0, testkit.Depth(40, 70)
			for n := range requests {
				w.extra = fmt.Sprintf(`"system":[{"type":"text","text":"%s Current time: 12:%02d."%s}],`, longWords, n/every, marker)
				w.after(20 * time.Second)
				r := w.last.Report
				if r.Reason == "" {
					continue
				}
				if pours++; n > every+1 && r.After < 30_000 {
					t.Errorf("request %d of %d tokens was poured (%s) to %d", n+1, r.Before, r.Reason, r.After)
				}
			}
			t.Logf("%d pours in %d requests", pours, requests)
			if pours > 3 {
				t.Errorf("%d pours in %d requests", pours, requests)
			}
			if pours > 0 {
				w.agree(requests)
			}
		})
	}
}

// What another conversation keeps warm, the system prompt, says nothing about the messages.
func TestASharedSystemPromptIsNoEvidence(t *testing.T) {
	w := newTwin(t, `"system":[`+longSystem+marker+`}],`, marker, sandbox.Options{})
	other := []byte(fmt.Sprintf(`{"model":%q,"max_tokens":4000,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],%s"messages":[{"role":"user","content":"Hello."}]}`, w.model, w.extra))
	free := 0
	requests := testkit.Depth(36, 60)
	for n := range requests {
		for range 4 { // ten minutes pass
			w.now.pass(150 * time.Second)
			for _, s := range []*sandbox.Server{w.sandbox, w.alone} {
				through := w.sandbox
				w.sandbox = s
				if status, answer := w.post(&engine.Prepared{Body: other}); status != 200 {
					t.Fatalf("status %d: %s", status, answer)
				}
				w.sandbox = through
			}
		}
		if w.after(0); w.usage.CacheRead == 0 || w.usage.CacheRead > 3500 {
			t.Fatalf("request %d of the twin: %+v; want the system prompt to be read alone", n+1, w.usage)
		}
		if w.last.Report.Reason == policy.Free {
			free++
		}
	}
	if free < requests/3 {
		t.Errorf("%d pours in %d requests that find nothing of their messages in the cache", free, requests)
	}
	w.agree(requests)
}

// A model that really is another one finds nothing, and that is used.
func TestAnotherModelFindsNothing(t *testing.T) {
	w := newTwin(t, `"system":[`+longSystem+marker+`}],`, marker, sandbox.Options{})
	w.model = "claude-opus-4-6"
	for n := range 20 {
		if n == 8 {
			w.model = "claude-sonnet-4-5"
		}
		if n == 12 {
			w.model = "claude-sonnet-4-5-20250929" // the same
		}
		if w.after(20 * time.Second); w.last.Report.Reason == policy.Free != (n == 8) {
			t.Errorf("request %d: %q", n+1, w.last.Report.Reason)
		}
	}
	w.agree(20)
}

// A client that asks for a window of a million tokens by a beta has it, for its plans as well.
func TestBetaForAMillionTokens(t *testing.T) {
	for _, betas := range [][]string{nil, {"claude-code-20250219", token.BetaMillion}} {
		k := newDialogue(t, engine.Options{})
		var err error
		if k.engine, err = engine.New(k.store, engine.Options{NoEarlyPours: true, Timeouts: sandboxtest.Patient}); err != nil {
			t.Fatal(err)
		}
		k.user("Do the work.")
		text := symbols(190_000)
		k.round(1, text)
		k.says("Done.")
		k.user("And now?")
		p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: k.body(), Betas: betas})
		if err != nil {
			t.Fatal(err)
		}
		window := 200_000
		if betas != nil {
			window = 1_000_000
		}
		if poured := p.Report.Reason == policy.Necessary; p.Report.Window != window || poured != (betas == nil) {
			t.Errorf("%q: a window of %d, reason %q", betas, p.Report.Window, p.Report.Reason)
		}
		k.engine.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: 190_000, Output: 20}})
		k.engine.Close()
		// In a window of 200,000 tokens there would be something to plan.
		if _, err := k.engine.Preview(t.Context(), store.Key{ID: p.Conversation}); !errors.Is(err, decant.ErrNothing) {
			t.Errorf("%q: the plan: %v", betas, err)
		}
	}
}

// A client's markers inside a result's content and the one for the request as a whole count: with one of ours
// there are never more than four, and none of an hour behind one of five minutes.
func TestHiddenMarkersLeaveNoRoom(t *testing.T) {
	inside := func(m string) string { return `[{"type":"text","text":"ok"` + m + `}]` }
	for _, tt := range []struct{ name, extra, use, result, end string }{
		{"InsideAResult", `"system":[{"type":"text","text":"You work."` + marker + `},` + longSystem + marker + `}],`, marker, inside(marker), ""},
		{"InsideAndOnIt", `"system":[` + longSystem + marker + `}],`, "", inside(marker), marker},
		{"Automatic", `"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"You work."` + marker + `},` + longSystem + marker + `}],`, marker, inside(""), ""},
		{"AutomaticHour", `"cache_control":{"type":"ephemeral","ttl":"1h"},"system":[` + longSystem + hourMarker + `}],`, "", inside(hourMarker), ""},
		{"HourBeforeMinutes", `"system":[` + longSystem + hourMarker + `}],`, "", inside(hourMarker), marker},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCoder(t, tt.extra, "")
			pours := 0
			for n := 1; n <= testkit.Depth(14, 30); n++ {
				if n == testkit.Depth(9, 22) {
					c.now.pass(2 * time.Hour) // a pour at the latest now
				}
				c.step() // the sandbox refuses more than four, and the wrong order
				body := string(c.last.Body)
				if count := strings.Count(body, `"cache_control"`); count > 4 {
					t.Fatalf("request %d has %d markers", n, count)
				}
				if c.last.Report.Reason != "" {
					pours++
				}
				c.ms = append(c.ms, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"ask_%d","name":"Bash","input":{"command":"true"}%s}]}`, n, tt.use),
					fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"ask_%d","content":%s%s}]}`, n, tt.result, tt.end))
				c.mustSend()
				if count := strings.Count(string(c.last.Body), `"cache_control"`); count > 4 {
					t.Fatalf("request %d has %d markers: %s", n, count, c.last.Body)
				}
				for i := range c.ms { // the client's markers move on
					c.ms[i] = strings.NewReplacer(marker, "", hourMarker, "").Replace(c.ms[i])
				}
			}
			if pours == 0 {
				t.Error("no pour")
			}
		})
	}
}

// As long as nothing is left out, the client's own request is the one that was sent, and costs what that did,
// whatever the provider reports.
func TestWithNothingLeftOutNothingIsSaved(t *testing.T) {
	k := newDialogue(t, engine.Options{Window: 400_000})
	k.extra = `"system":[` + longSystem + marker + `}],`
	k.user("Do the work.")
	for n, u := range []decant.Usage{{Input: 3000}, {Input: 7, CacheRead: 2900, CacheWrite: 311}, {Input: 3500, Output: 9}, {CacheWrite: 3700, Write1h: 3700}, {CacheRead: 3800}} {
		k.round(n, fmt.Sprintf("line %d", n))
		p := k.prepare()
		k.engine.Finish(p, engine.Response{Status: 200, Usage: u})
		k.engine.Close()
	}
	totals, err := k.store.(store.Log).Spending(t.Context(), store.SpendQuery{})
	if err != nil || len(totals) != 1 {
		t.Fatal(totals, err)
	}
	if got := &totals[0]; got.Calls != 5 || got.Usage != got.Without || got.Net() != 0 || got.Rewrite != 0 {
		t.Errorf("booked %+v", got)
	}
}

// Where markers are ignored, nothing is cached: that is learned, and booked so.
func TestMarkersThatAreIgnored(t *testing.T) {
	c := newCoder(t, `"system":[`+longSystem+marker+`}],`, marker)
	pours := 0
	for n := range 30 {
		c.plain = true
		if c.step(); c.last.Report.Reason == policy.Paid {
			pours++
		}
		if pours == 0 && n > 20 {
			t.Fatal("no pour in 20 requests that cache nothing")
		}
	}
	totals, err := c.store.(store.Log).Spending(t.Context(), store.SpendQuery{})
	if err != nil || len(totals) != 1 {
		t.Fatal(totals, err)
	}
	if w := totals[0].Without; w.CacheRead+w.CacheWrite > 0 || pours < 4 {
		t.Errorf("%d pours; without Decant %+v, want nothing cached", pours, w)
	}
}

// overflowing returns a dialogue of which most would not have fitted its window, and what was booked for it.
func overflowing(t *testing.T, o engine.Options) (*dialogue, *store.Total) {
	t.Helper()
	k := newDialogue(t, o)
	k.pour()
	for n := 100; n < 120; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 20))
		k.mustSend()
	}
	totals, err := k.store.(store.Log).Spending(t.Context(), store.SpendQuery{})
	if err != nil || len(totals) != 1 {
		t.Fatal(totals, err)
	}
	return k, &totals[0]
}

// Prompts over the model's window are booked apart: nobody could have sent them. Those over a window that the operator has
// set could have been sent.
func TestWhatCouldNotHaveBeenSentIsBookedApart(t *testing.T) {
	if _, got := overflowing(t, engine.Options{}); got.Over.Calls > 0 {
		t.Errorf("in a window of the operator's: booked %+v", got)
	}
	small, err := catalog().Add(fmt.Appendf(nil, `{"models":[{"id":"claude-sonnet-4-5","provider":"anthropic","context_window":%d,"price_per_mtok":{"input":3,"output":15,"cache_read":0.3,"cache_write_5m":3.75,"cache_write_1h":6}}]}`, dialogueWindow))
	if err != nil {
		t.Fatal(err)
	}
	k, got := overflowing(t, engine.Options{Catalog: small})
	if o := &got.Over; o.Calls < 10 || o.Calls == got.Calls || o.Without < o.Calls*dialogueWindow || o.Sent > o.Calls*dialogueWindow {
		t.Errorf("booked %+v", got)
	}
	if fit := got.Calls - got.Over.Calls; got.Without.Prompt()-got.Over.Without > fit*dialogueWindow {
		t.Errorf("%d requests that fit have prompts of %d tokens", fit, got.Without.Prompt()-got.Over.Without)
	}
	s, err := archive.ReadSavings(t.Context(), k.store, k.state(), lookup)
	if err != nil || s.Net != got.Net() || s.Other != 0 {
		t.Errorf("the decisions leave %d of %d unexplained: %v", s.Other, s.Net, err)
	}
	// A pour is even once it has saved something, which it cannot on requests that nobody could have sent.
	if p := s.Pours[len(s.Pours)-1]; p.Requests == 0 || p.Requests != p.Over || p.Even() {
		t.Errorf("a pour that was needed for every request since comes to %+v, even: %t", p, p.Even())
	}
}

// The price of a change knows what the provider has in its cache: nothing an hour later.
func TestAPriceKnowsTheCache(t *testing.T) {
	c := newCoder(t, `"system":[`+longSystem+marker+`}],`, marker)
	for c.last == nil || c.last.Report.Reason == "" {
		c.step()
	}
	for _, tt := range []struct {
		pause time.Duration
		warm  bool
	}{{time.Minute, true}, {time.Hour, false}} {
		c.now.pass(tt.pause)
		undo, err := c.engine.Undo(t.Context(), store.Key{ID: c.last.Conversation})
		if err != nil {
			t.Fatal(err)
		}
		if p := undo.Plan.Price; p.CacheLost > 0 != tt.warm || p.CostUSD > 0 != tt.warm || p.Saved >= 0 {
			t.Errorf("%v after the last request an undo has the price %+v", tt.pause, p)
		}
	}
}

// A billing line goes out as the client wrote it and makes no other system prompt of the one behind it.
func TestBillingLinesAreSentAndNotKeptApart(t *testing.T) {
	c := newCoder(t, "", marker)
	for n := range 12 {
		c.extra = `"system":[` + billingLine(n) + `,` + longSystem + marker + `}],`
		c.step()
		if !strings.Contains(string(c.last.Body), billingLine(n)) {
			t.Errorf("request %d left without its line", n+1)
		}
	}
	rs, err := c.store.(store.Log).Requests(t.Context(), store.Key{ID: c.last.Conversation})
	if err != nil || len(rs) != 12 {
		t.Fatalf("%d requests: %v", len(rs), err)
	}
	for i := range rs {
		if rs[i].Fixed != rs[0].Fixed {
			t.Errorf("request %d has a system prompt of its own", i+1)
		}
	}
}
