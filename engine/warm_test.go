package engine_test

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// A resting is a dialogue with pauses, in a bubble, whose engine keeps the sandbox's cache warm by real own calls.
type resting struct {
	*dialogue
	n    int
	made []owncalls.Call
}

// newResting returns a dialogue of a client whose key is "key". key is that of the calls; where it is empty there are none.
func newResting(t *testing.T, key string, o engine.Options) *resting {
	t.Helper()
	k := &resting{dialogue: newDialogue(t, o)}
	k.sandbox = newSandbox(sandbox.Options{Window: 400_000})
	k.upstream = "http://sandbox"
	k.extra = `"system":[` + longSystem + marker + `}],`
	if key != "" {
		over, stop := k.sandbox.Pipe()
		t.Cleanup(stop)
		client, err := anthropic.New(anthropic.Options{Base: k.upstream, Transport: over, Credential: provider.Key("x-api-key", key)})
		if err != nil {
			t.Fatal(err)
		}
		o.Models.Warmer, err = owncalls.NewCaller(owncalls.Options{
			Ledger: k.store.(owncalls.Ledger), Account: &provider.Account{Client: client, Upstream: k.upstream, Shared: true},
			Made: func(c owncalls.Call) { k.made = append(k.made, c) },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	o.Window, o.ArchiveDelay = cmp.Or(o.Window, 400_000), -1
	k.start(o)
	k.user("Read all the files.")
	return k
}

// read reads one more file, and rests for so long behind the answer.
func (k *resting) read(pause time.Duration) {
	k.Helper()
	if k.n > 0 {
		k.ms[len(k.ms)-1] = strings.Replace(k.ms[len(k.ms)-1], marker+`}]}`, `}]}`, 1)
	}
	k.n++
	text := strings.Repeat(fmt.Sprintf("func loadPart%d(ctx context.Context) error { return errors.New(partMissing%d) }\n", k.n, k.n), 30)
	k.ms = append(k.ms,
		fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"Read","input":{"file_path":"/src/part%d.go"}}]}`, k.n, k.n),
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":%s%s}]}`, k.n, quote(text), marker))
	p := k.prepare()
	status, answer := k.post(p)
	if status != 200 {
		k.Fatalf("status %d: %s", status, answer)
	}
	k.engine.Finish(p, engine.Response{Status: 200, Usage: k.sandbox.Log.Last().Usage, Content: []byte(`[{"type":"text","text":"noted"}]`), Stop: "tool_use"})
	synctest.Wait()
	time.Sleep(pause)
	synctest.Wait()
}

// paid returns what the provider was paid in all.
func (k *resting) paid() (sum store.Money) {
	m := lookup(k.model)
	for _, e := range k.sandbox.Log.Entries() {
		sum += priceOf(k, m, e.Usage, time.Now())
	}
	return sum
}

// rested reads a file before each of some pauses, and returns what was paid.
func rested(t *testing.T, key string, o engine.Options, pauses ...time.Duration) (k *resting, paid store.Money) {
	t.Helper()
	k = newResting(t, key, o)
	for _, pause := range pauses {
		k.read(pause)
	}
	return k, k.paid()
}

// breaks are so many pauses of one length, each behind some quick requests.
func breaks(n int, pause time.Duration) (out []time.Duration) {
	for range n {
		out = append(out, 20*time.Second, 20*time.Second, 20*time.Second, pause)
	}
	return out
}

// With pauses that are longer than the cache keeps anything, and not much longer, a conversation costs less when it is kept
// warm; and whatever the pauses are, not more than a fiftieth more than without. Every call is booked with its purpose.
func TestARestingConversationIsKeptWarm(t *testing.T) {
	n := testkit.Depth(4, 8)
	for _, tt := range []struct {
		name   string
		early  bool
		pauses []time.Duration
		least  float64 // that with it costs, as a share of without
		most   float64
		calls  bool
	}{
		{"EightMinutes", false, breaks(8, 8*time.Minute), 0.7, 0.9, true},
		{"TwentyMinutes", false, breaks(n, 20*time.Minute), 0, 1 + cost.KeepWarmShare, true},
		{"EightMinutesPouredEarly", true, breaks(n, 8*time.Minute), 0, 1 + cost.KeepWarmShare, false},
		{"TwoHours", false, breaks(n, 2*time.Hour), 1, 1 + cost.KeepWarmShare, true},
		{"TwoHoursPouredEarly", true, breaks(n, 2*time.Hour), 0, 1 + cost.KeepWarmShare, false},
		{"NoPauses", false, breaks(n, 20*time.Second), 1, 1 + cost.KeepWarmShare, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pauses := append(tt.pauses, 3*time.Hour) // nobody comes back
				_, without := rested(t, "", engine.Options{NoEarlyPours: !tt.early}, pauses...)
				k, with := rested(t, "key", engine.Options{NoEarlyPours: !tt.early}, pauses...)
				share := with.USD() / without.USD()
				t.Logf("%.4f: $%.4f with, $%.4f without, %d calls", share, with.USD(), without.USD(), len(k.made))
				if share < tt.least || share > tt.most {
					t.Errorf("%.4f of what it costs without; want %g to %g", share, tt.least, tt.most)
				}
				if tt.calls && len(k.made) == 0 {
					t.Error("no calls")
				}
				k.booked(with)
			})
		})
	}
}

// booked fails the test unless the ledger has all that was paid, and what it was paid for.
func (k *resting) booked(paid store.Money) {
	k.Helper()
	k.engine.Close()
	totals, err := k.store.(store.Log).Spending(k.Context(), store.SpendQuery{})
	if err != nil {
		k.Fatal(err)
	}
	var all, warm store.Money
	calls, own := 0, store.Money(0)
	for i := range totals {
		all, warm, calls = all+totals[i].Cost, warm+totals[i].WarmCost, calls+totals[i].Warm
	}
	for _, c := range k.made {
		own += c.Cost
		if c.Purpose != owncalls.ForCache || c.Outcome != "answered" || c.Usage.Output > 1 || c.Usage.CacheWrite > 0 {
			k.Errorf("a call of %+v", c)
		}
	}
	if all != paid || calls != len(k.made) || warm != own {
		k.Errorf("booked $%.6f, $%.6f of it for %d calls; paid $%.6f, $%.6f of it for %d", all.USD(), warm.USD(), calls, paid.USD(), own.USD(), len(k.made))
	}
}

// What is sent to keep a conversation warm is the request as it was sent last, poured or not, but for two parameters that are no
// part of the prompt.
func TestOnlyWhatIsNoPromptDiffersInACallThatKeepsWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newResting(t, "key", engine.Options{NoEarlyPours: true, Window: 10_000})
		k.extra += `"stream":false,"tool_choice":{"type":"auto"},`
		poured := false
		for n := 0; n < 40 && !poured; n++ {
			k.read(20 * time.Second)
			poured = k.last.Report.Reason == policy.Necessary
		}
		for range testkit.Depth(10, 40) {
			k.read(20 * time.Second)
		}
		k.read(20 * time.Minute)
		entries := k.sandbox.Log.Entries()
		sent := k.last.Body
		if !poured || len(k.made) == 0 || bytes.Equal(sent, k.body()) {
			t.Fatalf("poured %v, %d calls", poured, len(k.made))
		}
		for _, e := range entries[len(entries)-len(k.made):] {
			got := jsonspan.Member(e.Body, 0, "max_tokens")
			if string(got.Of(e.Body)) != "0" {
				t.Errorf("max_tokens is %s", got.Of(e.Body))
			}
			if same := bytes.Replace(sent, []byte(`"max_tokens":1300`), []byte(`"max_tokens":0`), 1); !bytes.Equal(e.Body, same) {
				t.Error("another prompt was sent than before")
			}
		}
	})
}

// A conversation that goes on within the lifetime is left alone, and so is one whose
// engine is closed, or whose messages have no marker.
func TestWhoIsNotKeptWarm(t *testing.T) {
	for name, begin := range map[string]func(k *resting){
		"GoesOn":   func(k *resting) { k.play(breaks(6, 4*time.Minute)) },
		"Closed":   func(k *resting) { k.play(breaks(6, time.Minute)); k.engine.Close(); time.Sleep(time.Hour) },
		"NoMarker": func(k *resting) { k.extra = ""; k.play(breaks(1, 0)[:1]); time.Sleep(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newResting(t, "key", engine.Options{NoEarlyPours: true})
				begin(k)
				synctest.Wait()
				if len(k.made) > 0 {
					t.Errorf("%d calls", len(k.made))
				}
			})
		})
	}
}

func (k *resting) play(pauses []time.Duration) {
	for _, pause := range pauses {
		k.read(pause)
	}
}

// Where a provider's cache is not as the rule takes it to be, one call finds that out, and there is no other one.
func TestAStrangeCacheIsKeptWarmOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newResting(t, "of another workspace", engine.Options{NoEarlyPours: true})
		k.play(breaks(6, 8*time.Minute))
		if len(k.made) != 1 || k.made[0].Usage.CacheRead > 0 {
			t.Errorf("calls: %+v", k.made)
		}
	})
}

// What was kept warm is warm: no cause says that anything has expired, and what the client's own requests would have cost is
// what they cost a client whose cache is cold after each pause.
func TestWhatWasKeptWarmIsWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pauses := append(breaks(8, 8*time.Minute), 0)
		k, _ := rested(t, "key", engine.Options{NoEarlyPours: true}, pauses...)
		if len(k.made) == 0 {
			t.Fatal("no calls")
		}
		k.engine.Close()
		rs, err := k.store.Requests(t.Context(), store.Key{ID: k.last.Conversation})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range rs[len(rs)-1].Writes {
			if w.Cause != "new text" {
				t.Errorf("%d tokens written again: %s", w.Tokens, w.Cause)
			}
		}
		alone, paid := rested(t, "", engine.Options{NoEarlyPours: true}, pauses...)
		totals, err := k.store.(store.Log).Spending(t.Context(), store.SpendQuery{})
		if err != nil || len(totals) != 1 {
			t.Fatal(totals, err)
		}
		if off := totals[0].Bare.USD()/paid.USD() - 1; off < -0.02 || off > 0.02 {
			t.Errorf("without it would have cost $%.4f by the ledger, $%.4f really: %+v, %+v", totals[0].Bare.USD(), paid.USD(), totals[0].Without, alone.sandbox.Log.Last().Usage)
		}
	})
}
