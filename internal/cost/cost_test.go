package cost_test

import (
	"math"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var day = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func model(tb testing.TB, id string) token.Model {
	tb.Helper()
	c, err := token.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	if c, err = c.Add([]byte(`{"models":[{"id":"promo","price_per_mtok":{"input":8},"price_valid_until":"2026-11-21"}]}`)); err != nil {
		tb.Fatal(err)
	}
	m, _ := c.Lookup(id)
	return m
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func TestOf(t *testing.T) {
	million := decant.Usage{Input: 1e6}
	tests := []struct {
		name  string
		model string
		usage decant.Usage
		terms cost.Terms
		want  cost.Bill
	}{
		{
			"EveryPart", "claude-opus-4-6",
			decant.Usage{Input: 1000, CacheRead: 10_000, CacheWrite: 3000, Write1h: 1000, Output: 500},
			cost.Terms{At: day},
			cost.Bill{Input: 0.005, CacheRead: 0.005, Write5m: 0.0125, Write1h: 0.01, Output: 0.0125},
		},
		{"LongTier", "claude-haiku-5-5", million, cost.Terms{At: day}, cost.Bill{Input: 0.5, Long: true}},
		{
			"TierCountsTheWholePrompt", "claude-haiku-5-5", decant.Usage{Input: 1, CacheRead: 100_000},
			cost.Terms{At: day}, cost.Bill{Input: 0.5e-6, CacheRead: 0.005, Long: true},
		},
		{
			"JustBelowTheTier", "claude-haiku-5-5", decant.Usage{CacheRead: 100_000}, cost.Terms{At: day},
			cost.Bill{CacheRead: 0.001},
		},
		{"Batch", "claude-opus-4-6", million, cost.Terms{At: day, Batch: true}, cost.Bill{Input: 2.5}},
		{"Fast", "claude-opus-5", million, cost.Terms{At: day, Fast: true}, cost.Bill{Input: 10}},
		{"NoFastMode", "claude-opus-4-6", million, cost.Terms{At: day, Fast: true}, cost.Bill{Unknown: 1e6}},
		{"NextPriceRow", "gemini-4-argon", million, cost.Terms{At: day.AddDate(0, 1, 0)}, cost.Bill{Input: 4}},
		{"EndedPriceRow", "promo", million, cost.Terms{At: day.AddDate(0, 1, 0)}, cost.Bill{Input: 8, Stale: true}},
		{"FreeWrites", "gpt-5", decant.Usage{CacheWrite: 5000}, cost.Terms{At: day}, cost.Bill{}},
		{"UnknownReadPrice", "gpt-5.4-nano", decant.Usage{CacheRead: 7}, cost.Terms{At: day}, cost.Bill{Unknown: 7}},
		{"UnknownModel", "nobody", decant.Usage{Input: 10, Output: 5}, cost.Terms{At: day}, cost.Bill{Unknown: 15}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := cost.Of(model(t, tt.model), tt.usage, tt.terms)
			if diff := cmp.Diff(tt.want, got, cmp.Comparer(near)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, ok := got.Total(); ok != (tt.want.Unknown == 0) {
				t.Errorf("total known: %v", ok)
			}
		})
	}
}

func drawUsage(t *rapid.T) decant.Usage {
	n := rapid.IntRange(0, 300_000)
	u := decant.Usage{
		Input: n.Draw(t, "input"), CacheRead: n.Draw(t, "read"), CacheWrite: n.Draw(t, "write"),
		Output: n.Draw(t, "output"),
	}
	u.Write1h = rapid.IntRange(0, u.CacheWrite).Draw(t, "write1h")
	return u
}

func TestBillsAddUp(t *testing.T) {
	models := []string{"claude-opus-4-6", "claude-haiku-5-5", "gpt-5.4-nano", "gpt-6-sol", "nobody"}
	rapid.Check(t, func(rt *rapid.T) {
		m := model(t, rapid.SampledFrom(models).Draw(rt, "model"))
		a, b := cost.Of(m, drawUsage(rt), cost.Terms{At: day}), cost.Of(m, drawUsage(rt), cost.Terms{At: day})
		sum := a.Add(b)
		x, _ := a.Total()
		y, _ := b.Total()
		if z, ok := sum.Total(); !near(z, x+y) || ok != (a.Unknown+b.Unknown == 0) {
			rt.Errorf("got %v, want %v", z, x+y)
		}
	})
}

// The rule of thumb for reading at 0.1 and writing at 1.25: a change pays after 11.5 L/S requests.
func TestBreakEvenIsElevenAndAHalf(t *testing.T) {
	m := model(t, "claude-opus-4-6")
	c := cost.Change{Prompt: 100_000, Freed: 10_000, Behind: 40_000}
	p, ok := c.Price(m, day)
	want := decant.Price{
		Saved: 10_000, CacheLost: 40_000, CostUSD: 40_000 * 5.75e-6, SaveUSD: 10_000 * 0.5e-6, BreakEven: 46,
	}
	if diff := cmp.Diff(want, p, cmp.Comparer(near)); diff != "" || !ok {
		t.Errorf("known %v (-want +got):\n%s", ok, diff)
	}
}

func TestChangePrice(t *testing.T) {
	tests := []struct {
		name  string
		model string
		c     cost.Change
		even  int
		known bool
	}{
		{
			"ColdCacheIsFree", "claude-opus-4-6",
			cost.Change{Prompt: 100_000, Freed: 1000, Behind: 90_000, Cold: true}, 0, true,
		},
		{"NothingBehind", "claude-opus-4-6", cost.Change{Prompt: 100_000, Freed: 1000}, 0, true},
		{"NothingFreed", "claude-opus-4-6", cost.Change{Prompt: 100_000, Behind: 1000}, -1, true},
		{"Grows", "claude-opus-4-6", cost.Change{Prompt: 100_000, Freed: -50, Behind: 1000}, -1, true},
		{
			"HourEntriesCostMore", "claude-opus-4-6",
			cost.Change{Prompt: 100_000, Freed: 10_000, Behind: 10_000, Hour: true}, 19, true,
		},
		{"CheapReads", "claude-opus-5-5", cost.Change{Prompt: 100_000, Freed: 10_000, Behind: 10_000}, 24, true},
		{"OwnCall", "claude-opus-4-6", cost.Change{Prompt: 100_000, Freed: 10_000, OwnUSD: 0.05}, 10, true},
		{"FreeWritesAreBilledAsInput", "gpt-5", cost.Change{Prompt: 100_000, Freed: 10_000, Behind: 10_000}, 9, true},
		{"UsualProportions", "nobody", cost.Change{Prompt: 100_000, Freed: 10_000, Behind: 10_000}, 12, false},
		{"LeavingTheLongTier", "claude-haiku-5-5", cost.Change{Prompt: 110_000, Freed: 20_000, Behind: 40_000}, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := tt.c.Price(model(t, tt.model), day)
			if p.BreakEven != tt.even || ok != tt.known {
				t.Errorf("got %+v, known %v; want %d requests, known %v", p, ok, tt.even, tt.known)
			}
		})
	}
}

// The price of a change must agree with what the cache model says about the requests after it.
func TestBreakEvenAgreesWithTheCache(t *testing.T) {
	m := model(t, "claude-opus-4-6")
	rapid.Check(t, func(rt *rapid.T) {
		head := rapid.IntRange(5000, 50_000).Draw(rt, "head")
		freed := rapid.IntRange(1000, 30_000).Draw(rt, "freed")
		tail := rapid.IntRange(0, 60_000).Draw(rt, "tail")
		whole := []cost.Block{block("head", head, ""), block("old", freed+100, ""), block("tail", tail, "5m")}
		short := []cost.Block{whole[0], block("stub", 100, ""), whole[2]}
		whole[0].Cache, short[0].Cache = "5m", "5m"
		n := rapid.IntRange(1, 30).Draw(rt, "requests")
		keep, change := total(rt, m, whole, whole, n), total(rt, m, whole, short, n)

		p, _ := cost.Change{Prompt: head + freed + 100 + tail, Freed: freed, Behind: tail + 100}.Price(m, day)
		if got, want := keep-change, p.SaveUSD*float64(n)-p.CostUSD; math.Abs(got-want) > 1e-9 {
			rt.Errorf("the cache says %v saved after %d requests, the price says %v", got, n, want)
		}
	})
}

// total returns what n requests with then cost after one with first.
func total(tb rapid.TB, m token.Model, first, then []cost.Block, n int) (usd float64) {
	tb.Helper()
	rs := []cost.Request{{At: day, Blocks: first}}
	for i := range n {
		rs = append(rs, cost.Request{At: day.Add(time.Duration(i+1) * time.Minute), Blocks: then})
	}
	for _, u := range predict(m, rs)[1:] {
		x, _ := cost.Of(m, u, cost.Terms{At: day}).Total()
		usd += x
	}
	return usd
}
