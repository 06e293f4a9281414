package cost_test

import (
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	minutes = 300 // seconds, the usual life
	hour    = 3600
)

func TestShadow(t *testing.T) {
	system, end := cost.Mark{End: 300, Life: minutes}, cost.Mark{End: 1000, Life: minutes}
	before := cost.Shadow{Prompt: 1000, At: day, Marks: []cost.Mark{system, end}}
	longSystem := cost.Shadow{Prompt: 1000, At: day, Marks: []cost.Mark{{End: 300, Life: hour}, end}}
	onlySystem := cost.Shadow{Prompt: 1000, At: day, Marks: []cost.Mark{system}}
	unasked := cost.Shadow{Prompt: 1000, At: day, Marks: []cost.Mark{{End: 1000}}}
	next := func(life int) cost.Prompt {
		return cost.Prompt{Tokens: 1500, Same: 1500, Marks: []cost.Mark{{End: 300, Life: life}, {End: 1500, Life: minutes}}}
	}
	tests := []struct {
		name  string
		from  cost.Shadow
		at    time.Duration
		p     cost.Prompt
		alive bool
		want  decant.Usage
	}{
		{"FirstRequestIsWritten", cost.Shadow{}, 0, next(minutes), false, decant.Usage{CacheWrite: 1500}},
		{"WhatWasThereIsRead", before, time.Minute, next(minutes), false, decant.Usage{CacheRead: 1000, CacheWrite: 500}},
		{"ColdAfterFiveMinutes", before, 5 * time.Minute, next(minutes), false, decant.Usage{CacheWrite: 1500}},
		{
			"UnlessReportsSayOtherwise", before, 6 * time.Minute, next(minutes), true,
			decant.Usage{CacheRead: 1000, CacheWrite: 500},
		},
		{
			"EachPartAsLongAsItsMarkerSays", longSystem, 10 * time.Minute, next(hour), false,
			decant.Usage{CacheRead: 300, CacheWrite: 1200},
		},
		{"AnHourIsWrittenAtItsPrice", cost.Shadow{}, 0, next(hour), false, decant.Usage{CacheWrite: 1500, Write1h: 300}},
		{
			"AnotherBeginningIsNotRead", before, time.Second,
			cost.Prompt{Tokens: 1500, Marks: next(minutes).Marks}, false, decant.Usage{CacheWrite: 1500},
		},
		{
			"BehindTheLastMarkerIsInput", onlySystem, time.Second,
			cost.Prompt{Tokens: 1500, Same: 1500, Marks: []cost.Mark{system}}, false,
			decant.Usage{CacheRead: 300, Input: 1200},
		},
		{
			"WithoutMarkersIsInput", before, time.Second, cost.Prompt{Tokens: 1500, Same: 1500}, false,
			decant.Usage{Input: 1500},
		},
		{
			"TooSmallIsInput", before, time.Second,
			cost.Prompt{Tokens: 1500, Same: 1500, Marks: []cost.Mark{end}, Least: 1024}, false,
			decant.Usage{Input: 1500},
		},
		{
			"KeptUnaskedIsNotWritten", unasked, time.Hour, cost.Prompt{Tokens: 1500, Same: 1500, Unasked: true},
			true, decant.Usage{CacheRead: 1000, Input: 500},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.p.Billed(tt.from.Left(&tt.p, day.Add(tt.at), tt.alive))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if next := tt.p.After(day.Add(tt.at)); next.Prompt != 1500 || !next.At.Equal(day.Add(tt.at)) {
				t.Errorf("next is %+v", next)
			}
		})
	}
}

// The shadow must say what the cache model says of requests that only grow, also where system prompt and
// messages are kept for different times.
func TestShadowAgreesWithTheCache(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	lives := map[string]int{"5m": minutes, "1h": hour}
	rapid.Check(t, func(rt *rapid.T) {
		system := rapid.SampledFrom([]string{"5m", "1h"}).Draw(rt, "system")
		end := rapid.SampledFrom([]string{"", "5m", system}).Draw(rt, "end")
		size := rapid.IntRange(500, 5000).Draw(rt, "system prompt")
		c, shadow, at, tokens := cost.NewCache(m), cost.Shadow{}, day, size
		blocks := []cost.Block{block("system", size, system)}
		for i := range rapid.IntRange(1, 10).Draw(rt, "requests") {
			at = at.Add(time.Duration(rapid.IntRange(1, 1200).Draw(rt, "seconds")) * time.Second)
			n := rapid.IntRange(1, 5000).Draw(rt, "tokens")
			blocks[len(blocks)-1].Cache = map[bool]string{true: system}[len(blocks) == 1]
			blocks = append(blocks, block(string(rune('a'+i)), n, end))
			tokens += n
			want := c.Send(cost.Request{At: at, Blocks: blocks})
			p := cost.Prompt{
				Tokens: tokens, Same: tokens, Least: m.MinCache,
				Marks: []cost.Mark{{End: size, Life: lives[system]}},
			}
			if end != "" {
				p.Marks = append(p.Marks, cost.Mark{End: tokens, Life: lives[end]})
			}
			if got := p.Billed(shadow.Left(&p, at, false)); got != want {
				rt.Fatalf("request %d: the shadow says %+v, the cache %+v", i, got, want)
			}
			shadow = p.After(at)
		}
	})
}

func TestDoubt(t *testing.T) {
	var d cost.Doubt
	if d = d.Observe(10_000, 9500); d != 0 {
		t.Errorf("a twentieth less than predicted raises a doubt of %v", d)
	}
	if d = d.Observe(10_000, 20_000); d != 0 {
		t.Errorf("more than predicted raises a doubt of %v", d)
	}
	for range 20 {
		d = d.Observe(10_000, 0)
	}
	if d < 0.95 {
		t.Errorf("a cache that never answers leaves a doubt of %v", d)
	}
	if got := d.Read(0.1, 1.25); got < 1.15 {
		t.Errorf("reading is still priced at %v", got)
	}
	for range 20 {
		d = d.Observe(10_000, 10_000)
	}
	if d != 0 {
		t.Errorf("a cache that answers again leaves a doubt of %v", d)
	}
}

func TestBillionthsAreExact(t *testing.T) {
	m := model(t, "claude-opus-4-6")
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawUsage(rt), drawUsage(rt)
		x, _ := cost.Billionths(m, a, cost.Terms{At: day})
		y, _ := cost.Billionths(m, b, cost.Terms{At: day})
		if z, _ := cost.Billionths(m, a.Add(b), cost.Terms{At: day}); z != x+y {
			rt.Errorf("%d and %d are %d together", x, y, z)
		}
	})
}
