package engine_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// growing sends a conversation of so many rounds, one more with each request, to an upstream that
// reports the same usage for everything.
type growing struct {
	testing.TB
	store   store.Store
	engine  *engine.Engine
	usage   decant.Usage
	notices []string
}

func newGrowing(t testing.TB, o engine.Options, u decant.Usage) *growing {
	t.Helper()
	g := &growing{TB: t, store: emptyStore(t), usage: u}
	o.Timeouts = sandboxtest.Patient
	o.Logger = testkit.Log(func(level slog.Level, line string) {
		if level >= slog.LevelError {
			t.Errorf("logged: %s", line)
		}
		g.notices = append(g.notices, line)
	})
	var err error
	if g.engine, err = engine.New(g.store, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.engine.Close() })
	return g
}

// body is a request of so many rounds, ten KB each, without a cache marker: then w = r, and all
// early pours are due.
func (g *growing) body(rounds int) []byte {
	return []byte(strings.Replace(string(longRequest(rounds, rounds*10<<10)), `,"cache_control":{"type":"ephemeral"}`, "", 1))
}

func (g *growing) prepare(body []byte) *engine.Prepared {
	g.Helper()
	p, err := g.engine.Prepare(g.Context(), &engine.Request{Session: "s", Body: body})
	if err != nil || p.Fault != nil {
		g.Fatal(err, p.Fault)
	}
	return p
}

func (g *growing) send(rounds int) *engine.Prepared {
	g.Helper()
	p := g.prepare(g.body(rounds))
	g.engine.Finish(p, engine.Response{Status: 200, Usage: g.usage})
	g.engine.Close()
	return p
}

// untouchable is a preset under which no result may be changed, so that early pours are due and
// bring nothing.
func untouchable(t testing.TB) *preset.Preset {
	t.Helper()
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	out := *p
	out.Tools.Exclude = []string{"*"}
	return &out
}

// A pour that is due and brings nothing is planned again only when there is more to pour: seven times
// while the conversation grows tenfold, not with each of its requests.
func TestAPourThatBringsNothingIsNotPlannedAgain(t *testing.T) {
	g := newGrowing(t, engine.Options{Window: 1_000_000, Preset: untouchable(t)}, decant.Usage{Input: 100_000, Output: 20})
	planned := 0
	for n := 10; n < testkit.Depth(40, 100); n++ {
		r := g.send(n).Report
		if r.Reason != "" {
			t.Fatalf("%d rounds: poured, %s", n, r.Reason)
		}
		if r.Route == "none" {
			planned++
		}
	}
	if planned == 0 || planned > 10 {
		t.Errorf("planned %d pours that brought nothing, want 1 to 10", planned)
	}
}

// Any engine on the store plans at the same requests.
func TestAnotherEngineKnowsThatAPourBringsNothing(t *testing.T) {
	o := engine.Options{Window: 1_000_000, Preset: untouchable(t), Timeouts: sandboxtest.Patient}
	g := newGrowing(t, o, decant.Usage{Input: 100_000, Output: 20})
	planned := map[string]int{}
	for n := 10; n < 30; n++ {
		other, err := engine.New(g.store, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := other.Prepare(t.Context(), &engine.Request{Session: "s", Body: g.body(n), Count: true})
		if err != nil {
			t.Fatal(err)
		}
		r := g.send(n).Report
		if r.Route != p.Report.Route {
			t.Errorf("%d rounds: route %q, of another engine %q", n, r.Route, p.Report.Route)
		}
		planned[r.Route]++
		other.Close()
	}
	if len(planned) < 2 {
		t.Errorf("all routes were the same: %v", planned)
	}
}

func TestAPourIsPlannedAgainWhenThePresetChanges(t *testing.T) {
	g := newGrowing(t, engine.Options{Window: 1_000_000, Preset: untouchable(t)}, decant.Usage{Input: 100_000, Output: 20})
	for n := 20; n < 25; n++ {
		g.send(n)
	}
	free := *untouchable(t)
	free.Tools.Exclude, free.Name = nil, "free"
	p, err := g.engine.Prepare(t.Context(), &engine.Request{Session: "s", Body: g.body(25), Preset: &free})
	if err != nil || p.Report.Reason != policy.Paid {
		t.Errorf("the pour is %q, want paid: %v", p.Report.Reason, err)
	}
}

// A report that no tokenizer could make is booked, and everything else goes by the estimate.
func TestUsageThatCannotBeTrueIsNoAnchor(t *testing.T) {
	for _, c := range []struct {
		name     string
		usage    decant.Usage
		believed bool
	}{
		{"TheSameForEverything", decant.Usage{Input: 23, Output: 5}, false},
		{"WithoutWhatTheCacheHeld", decant.Usage{Input: 900, Output: 5}, false},
		{"Low", decant.Usage{Input: 20_000, Output: 5}, true},
		{"High", decant.Usage{Input: 90_000, Output: 5}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGrowing(t, engine.Options{Window: 1_000_000, Preset: untouchable(t)}, c.usage)
			first := g.send(20)
			second := g.send(21)
			estimated := first.Report.Before + first.Report.Before/20
			if got, near := second.Report.Before, c.usage.Context()+first.Report.Before/20; c.believed && !within(got, near, 0.1) {
				t.Errorf("metered at %d tokens, want about %d from the report", got, near)
			}
			if got := second.Report.Before; !c.believed && !within(got, estimated, 0.1) {
				t.Errorf("metered at %d tokens, want about %d from the estimate", got, estimated)
			}
			if n := len(g.notices); (n == 0) != c.believed || n > 1 {
				t.Errorf("said %q", g.notices)
			}
			totals, err := g.store.Spending(t.Context(), store.SpendQuery{})
			if err != nil || len(totals) != 1 || totals[0].Usage.Input != 2*c.usage.Input {
				t.Errorf("booked %+v, want what was reported: %v", totals, err)
			}
		})
	}
}

func within(got, want int, share float64) bool {
	return float64(got) > float64(want)*(1-share) && float64(got) < float64(want)*(1+share)
}

// A client that has the provider clear results is told the size of what is left, and that is true.
func TestUsageAfterTheProviderClearedIsBelieved(t *testing.T) {
	g := newGrowing(t, engine.Options{Window: 1_000_000, Preset: untouchable(t)}, decant.Usage{Input: 900, Output: 5})
	for n := 20; n < 22; n++ {
		body := strings.Replace(string(g.body(n)), `"messages"`, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"messages"`, 1)
		p := g.prepare([]byte(body))
		if n == 21 && p.Report.Before > 10_000 {
			t.Errorf("metered at %d tokens after a report of 900", p.Report.Before)
		}
		g.engine.Finish(p, engine.Response{Status: 200, Usage: g.usage})
		g.engine.Close()
	}
	if len(g.notices) > 0 {
		t.Errorf("said %q", g.notices)
	}
}

// BenchmarkPrepareAfterAFutilePour is a request of half a megabyte whose pour was due and brought
// nothing: as fast as one to which nothing is due.
func BenchmarkPrepareAfterAFutilePour(b *testing.B) {
	for _, c := range []struct {
		name  string
		usage decant.Usage
	}{{"Reported", decant.Usage{Input: 130_000, Output: 20}}, {"Absurd", decant.Usage{Input: 23, Output: 5}}} {
		b.Run(c.name, func(b *testing.B) {
			g := newGrowing(b, engine.Options{Window: 1_000_000, Preset: untouchable(b)}, c.usage)
			for n := 48; n < 51; n++ {
				g.send(n)
			}
			src := g.body(51)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if p := g.prepare(src); p.Report.Route != "" {
					b.Fatal("planned again")
				}
			}
		})
	}
}
