package cost_test

import (
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/cost"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestShadow(t *testing.T) {
	before := cost.Shadow{Prompt: 1000, At: day}
	tests := []struct {
		name string
		from cost.Shadow
		at   time.Duration
		life time.Duration
		cold bool
		want decant.Usage
	}{
		{"FirstRequestIsWritten", cost.Shadow{}, 0, 5 * time.Minute, false, decant.Usage{CacheWrite: 1500}},
		{"WhatWasThereIsRead", before, time.Minute, 5 * time.Minute, false, decant.Usage{CacheRead: 1000, CacheWrite: 500}},
		{"ColdAfterFiveMinutes", before, 5 * time.Minute, 5 * time.Minute, false, decant.Usage{CacheWrite: 1500}},
		{"WarmForAnHour", before, 5 * time.Minute, time.Hour, false, decant.Usage{CacheRead: 1000, CacheWrite: 500, Write1h: 500}},
		{"OtherToolsAreCold", before, time.Second, 5 * time.Minute, true, decant.Usage{CacheWrite: 1500}},
		{"WithoutMarkersIsInput", before, time.Second, 0, false, decant.Usage{Input: 1500}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, next := tt.from.Next(1500, day.Add(tt.at), tt.life, tt.cold)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := (cost.Shadow{Prompt: 1500, At: day.Add(tt.at)}); next != want {
				t.Errorf("next is %+v, want %+v", next, want)
			}
		})
	}
}

// The shadow must say what the cache model says of requests that only grow.
func TestShadowAgreesWithTheCache(t *testing.T) {
	m := model(t, "claude-sonnet-4-6")
	rapid.Check(t, func(rt *rapid.T) {
		c, shadow, at := cost.NewCache(m), cost.Shadow{}, day
		blocks := []cost.Block{block("system", 5000, "5m")}
		for i := range rapid.IntRange(1, 10).Draw(rt, "requests") {
			at = at.Add(time.Duration(rapid.IntRange(1, 600).Draw(rt, "seconds")) * time.Second)
			n := rapid.IntRange(1, 5000).Draw(rt, "tokens")
			blocks = append(blocks, block(string(rune('a'+i)), n, "5m"))
			prompt := 0
			for _, b := range blocks {
				prompt += b.Tokens
			}
			want := c.Send(cost.Request{At: at, Blocks: blocks})
			var got decant.Usage
			if got, shadow = shadow.Next(prompt, at, 5*time.Minute, false); got != want {
				rt.Fatalf("request %d: the shadow says %+v, the cache %+v", i, got, want)
			}
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
