package cost_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/testing/costtest"
	"github.com/decantdev/decant/token"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func block(name string, tokens int, marker string) cost.Block {
	return cost.Block{ID: decant.HashText(name), Tokens: tokens, Cache: marker}
}

// many returns n blocks of 1,000 tokens named from start on, the last one marked.
func many(start, n int, marker string) (out []cost.Block) {
	for i := range n {
		out = append(out, block(fmt.Sprint(start+i), 1000, ""))
	}
	out[n-1].Cache = marker
	return out
}

func join(parts ...[]cost.Block) (out []cost.Block) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func after(d time.Duration, blocks []cost.Block) cost.Request {
	return cost.Request{At: day.Add(d), Blocks: blocks}
}

// Each case gives the usage of the last request (docs/reference/anthropic.md, "The prompt cache", and
// docs/reference/openai.md, "The prompt cache").
func TestCache(t *testing.T) {
	const sonnet = "claude-sonnet-4-6" // least prefix 1,024
	base := many(0, 10, "5m")
	tests := []struct {
		name  string
		model string
		rs    []cost.Request
		want  decant.Usage
	}{
		{"FirstRequestWrites", sonnet, []cost.Request{after(0, base)}, decant.Usage{CacheWrite: 10_000}},
		{
			"NoMarkerNoCache", sonnet, []cost.Request{after(0, many(0, 10, "")), after(1, many(0, 10, ""))},
			decant.Usage{Input: 10_000},
		},
		{"SameAgainReads", sonnet, []cost.Request{after(0, base), after(time.Minute, base)}, decant.Usage{CacheRead: 10_000}},
		{
			"AfterTheMarkerIsInput", sonnet, []cost.Request{after(0, join(base, many(10, 2, "")))},
			decant.Usage{CacheWrite: 10_000, Input: 2000},
		},
		{
			"GrowingReadsAndWrites", sonnet,
			[]cost.Request{after(0, base), after(time.Minute, join(many(0, 10, ""), many(10, 3, "5m")))},
			decant.Usage{CacheRead: 10_000, CacheWrite: 3000},
		},
		{
			"NineteenNewBlocksAreWithinReach", sonnet,
			[]cost.Request{after(0, base), after(time.Minute, join(many(0, 10, ""), many(10, 19, "5m")))},
			decant.Usage{CacheRead: 10_000, CacheWrite: 19_000},
		},
		{
			"TwentyNewBlocksAreNot", sonnet,
			[]cost.Request{after(0, base), after(time.Minute, join(many(0, 10, ""), many(10, 20, "5m")))},
			decant.Usage{CacheWrite: 30_000},
		},
		{
			"UnlessABreakpointIsBetween", sonnet,
			[]cost.Request{after(0, base), after(time.Minute, join(many(0, 10, ""), many(10, 10, "5m"), many(20, 10, "5m")))},
			decant.Usage{CacheRead: 10_000, CacheWrite: 20_000},
		},
		{
			"ChangeInTheMiddleLosesWhatFollows", sonnet,
			[]cost.Request{
				after(0, join(many(0, 5, "5m"), many(5, 5, "5m"))),
				after(time.Minute, join(many(0, 5, "5m"), many(90, 1, ""), many(6, 4, "5m"))),
			},
			decant.Usage{CacheRead: 5000, CacheWrite: 5000},
		},
		{
			"FiveMinutesAreOver", sonnet, []cost.Request{after(0, base), after(5*time.Minute, base)},
			decant.Usage{CacheWrite: 10_000},
		},
		{
			"AHitRefreshes", sonnet,
			[]cost.Request{after(0, base), after(4*time.Minute, base), after(8*time.Minute, base)},
			decant.Usage{CacheRead: 10_000},
		},
		{
			"HourEntryLivesOn", sonnet,
			[]cost.Request{after(0, many(0, 10, "1h")), after(59*time.Minute, many(0, 10, "1h"))},
			decant.Usage{CacheRead: 10_000},
		},
		{
			"TwoLifetimes", sonnet,
			[]cost.Request{after(0, join(many(0, 4, "1h"), many(4, 3, "5m"), many(7, 1, "")))},
			decant.Usage{CacheWrite: 7000, Write1h: 4000, Input: 1000},
		},
		{
			"OnlyTheHourEntryIsLeft", sonnet,
			[]cost.Request{
				after(0, join(many(0, 4, "1h"), many(4, 3, "5m"))),
				after(30*time.Minute, join(many(0, 4, "1h"), many(4, 3, "5m"))),
			},
			decant.Usage{CacheRead: 4000, CacheWrite: 3000},
		},
		{
			"TooSmallIsSilentlyPlain", "claude-opus-4-6",
			[]cost.Request{after(0, many(0, 4, "5m")), after(1, many(0, 4, "5m"))}, decant.Usage{Input: 4000},
		},
		{
			"OpenAINeedsNoMarker", "gpt-6-sol",
			[]cost.Request{after(0, many(0, 10, "")), after(time.Minute, join(many(0, 10, ""), many(10, 3, "")))},
			decant.Usage{CacheRead: 10_000, CacheWrite: 3000},
		},
		{
			"OpenAIFreeWritesAreInput", "gpt-5",
			[]cost.Request{after(0, many(0, 10, "")), after(time.Minute, join(many(0, 10, ""), many(10, 3, "")))},
			decant.Usage{CacheRead: 10_000, Input: 3000},
		},
		{
			"OpenAIFindsPartOfAPrompt", "gpt-6-sol",
			[]cost.Request{after(0, many(0, 10, "")), after(time.Minute, join(many(0, 4, ""), many(50, 2, "")))},
			decant.Usage{CacheRead: 4000, CacheWrite: 2000},
		},
		{
			"OpenAIMinimum", "gpt-6-sol",
			[]cost.Request{after(0, many(0, 1, "")), after(time.Minute, many(0, 1, ""))},
			decant.Usage{Input: 1000},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			us := predict(model(t, tt.model), tt.rs)
			if diff := cmp.Diff(tt.want, us[len(us)-1]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A prefix is there right before its lifetime is over, and not any more when it is.
func TestLifetime(t *testing.T) {
	for _, id := range []string{"claude-sonnet-4-6", "gpt-6-sol"} {
		m := model(t, id)
		for _, d := range []time.Duration{-time.Nanosecond, 0} {
			us := predict(m, []cost.Request{after(0, many(0, 10, "5m")), after(cost.Lifetime(m)+d, many(0, 10, "5m"))})
			if read := us[1].CacheRead > 0; read != (d < 0) {
				t.Errorf("%s: %v after %v: read is %v", id, us[1], cost.Lifetime(m)+d, read)
			}
		}
	}
}

func TestCachePartsAddUp(t *testing.T) {
	models := []string{"claude-opus-4-6", "claude-sonnet-4-6", "gpt-5", "gpt-6-sol", "nobody"}
	rapid.Check(t, func(rt *rapid.T) {
		m := model(t, rapid.SampledFrom(models).Draw(rt, "model"))
		c := cost.NewCache(m)
		at := day
		for range rapid.IntRange(1, 12).Draw(rt, "requests") {
			blocks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cost.Block {
				return block(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"),
					rapid.IntRange(0, 3000).Draw(t, "tokens"), rapid.SampledFrom([]string{"", "", "", "5m", "1h"}).Draw(t, "marker"))
			}), 0, 40).Draw(rt, "blocks")
			at = at.Add(time.Duration(rapid.IntRange(0, 600).Draw(rt, "seconds")) * time.Second)
			sum := 0
			for _, b := range blocks {
				sum += b.Tokens
			}
			u := c.Send(cost.Request{At: at, Blocks: blocks})
			if u.Prompt() != sum || u.Write1h > u.CacheWrite || min(u.Input, u.CacheRead, u.CacheWrite, u.Write1h) < 0 {
				rt.Fatalf("got %+v for %d tokens", u, sum)
			}
		}
	})
}

func TestLayKeepsPrefixesOfGrowingViews(t *testing.T) {
	e := token.For(model(t, "claude-opus-4-6"))
	text := func(s string) []decant.Block {
		return []decant.Block{{Kind: decant.KindText, Content: decant.Text(s)}}
	}
	view := &decant.Conversation{
		Fixed: decant.Fixed{System: text("be brief"), Tools: []decant.Tool{{Name: "Read", Schema: decant.Text(`{"name":"Read"}`), Cache: "1h"}, {Name: "Write"}}},
		Messages: []decant.Message{
			{Role: decant.RoleUser, Blocks: text("hello")},
			{Role: decant.RoleAssistant, Blocks: text("hello")},
		},
	}
	short := costtest.Lay(view, e)
	long := costtest.Lay(view.With(append(view.Messages, decant.Message{Role: decant.RoleUser, Blocks: text("more")})), e)
	if diff := cmp.Diff(short, long[:len(short)]); diff != "" {
		t.Errorf("the prefix changed (-short +long):\n%s", diff)
	}
	if short[3].ID == short[4].ID {
		t.Error("the same text of two roles has one identity")
	}
	if short[0].Cache != "1h" {
		t.Errorf("the marker on the tool got lost: %+v", short[0])
	}
	sum := 0
	for _, b := range short {
		sum += b.Tokens
	}
	if want := e.Conversation(view).Total(); sum != want {
		t.Errorf("got %d tokens, want %d", sum, want)
	}
}

func BenchmarkCache(b *testing.B) {
	m := model(b, "claude-opus-4-6")
	blocks := many(0, 1000, "5m")
	b.ReportAllocs()
	for b.Loop() {
		c := cost.NewCache(m)
		for i := range 10 {
			c.Send(after(time.Duration(i)*time.Minute, blocks))
		}
	}
}

// predict returns the usage of each request, starting from an empty cache.
func predict(m token.Model, rs []cost.Request) []decant.Usage {
	c := cost.NewCache(m)
	out := make([]decant.Usage, len(rs))
	for i := range rs {
		out[i] = c.Send(rs[i])
	}
	return out
}
