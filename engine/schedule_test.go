package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/testing/sandbox"
)

func TestDue(t *testing.T) {
	limits := policy.Limits{Window: 200_000, Reserve: 32_000, Trigger: 168_000, Target: 80_000}
	early := policy.Economy{Early: true, Lifetime: 5 * time.Minute, Freed: 20_000, Behind: 50_000, Write: 3.75, Read: 0.3}
	for _, c := range []struct {
		name string
		s    policy.Situation
		want policy.Reason
	}{
		{"Small", policy.Situation{Tokens: 50_000}, ""},
		{"AtTheTrigger", policy.Situation{Tokens: 168_000}, ""},
		{"OverTheTrigger", policy.Situation{Tokens: 168_001}, policy.Necessary},
		{"OverTheBytes", policy.Situation{Tokens: 5_000, Bytes: 33 << 20}, policy.Necessary},
		{"HoldWaits", policy.Situation{Tokens: 180_000, Hold: true}, ""},
		{"HoldEndsAtTheHardLimit", policy.Situation{Tokens: 193_000, Hold: true}, policy.Necessary},
		{"SuppressedWaits", policy.Situation{Tokens: 180_000, Suppressed: true}, ""},
		{"ColdCache", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Idle = 6 * time.Minute })}, policy.Free},
		{"WarmCache", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Idle = 4 * time.Minute })}, ""},
		{"ColdButLittleToFree", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Idle, e.Freed = time.Hour, 1_700 })}, ""},
		{"ColdAndLessIsWorthIt", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Idle, e.Freed = time.Hour, 1_900 })}, policy.Free},
		{"ColdOnHold", policy.Situation{Tokens: 90_000, Hold: true, Economy: with(early, func(e *policy.Economy) { e.Idle = time.Hour })}, ""},
		{"AnotherModel", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Switched = true })}, policy.Free},
		{"NotYetPaid", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Spent = 172_000 })}, ""},
		{"Paid", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Spent = 173_000 })}, policy.Paid},
		{"EarlyNotPermitted", policy.Situation{Tokens: 90_000, Economy: with(early, func(e *policy.Economy) { e.Early, e.Spent = false, 1e9 })}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Limits = limits
			if c.s.MaxBytes == 0 {
				c.s.MaxBytes = 32 << 20
			}
			if got := policy.Due(c.s); got != c.want {
				t.Errorf("due %q, want %q", got, c.want)
			}
		})
	}
}

func with(e policy.Economy, change func(*policy.Economy)) policy.Economy {
	change(&e)
	return e
}

// For a fixed amount that could go the paid rule costs at most twice what the best choice in hindsight
// costs, and one request more.
func TestPaidRuleIsTwoCompetitive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		freed := rapid.IntRange(5_000, 100_000).Draw(t, "S")
		behind := rapid.IntRange(1, 150_000).Draw(t, "L")
		requests := rapid.IntRange(1, 500).Draw(t, "requests")
		const write, read = 3.75, 0.3
		rent, buy := float64(freed)*read, float64(behind)*(write-read)
		online, spent := 0.0, 0.0
		for range requests {
			spent += rent
			s := policy.Situation{Limits: policy.Limits{Window: 1 << 30, Trigger: 1 << 30}, Tokens: 100_000, MaxBytes: 1}
			s.Economy = policy.Economy{Early: true, Freed: freed, Behind: behind, Spent: spent, Write: write, Read: read}
			if policy.Due(s) == policy.Paid {
				online += buy
				break
			}
			online += rent
		}
		best := min(rent*float64(requests), buy)
		if online > 2*best+rent+1e-6 {
			t.Errorf("the rule costs %.0f, the best choice in hindsight %.0f", online, best)
		}
	})
}

// The same file is read again and again: with the schedule the old readings go when the cache is cold,
// or when carrying them has cost as much as the rewrite, long before the window demands it.
func TestEarlyPours(t *testing.T) {
	for _, c := range []struct {
		name string
		idle time.Duration
		want policy.Reason
		by   string
	}{{"Free", 6 * time.Minute, policy.Free, "edit early"}, {"Paid", time.Second, policy.Paid, "checkpoint early"}} {
		t.Run(c.name, func(t *testing.T) {
			now := newClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
			k := newDialogue(t, engine.Options{Window: 200_000, Now: now.Now})
			k.sandbox = newSandbox(sandbox.Options{Now: now.Now})
			k.extra = `"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"You are careful.","cache_control":{"type":"ephemeral"}}],`
			k.user("Do the work.")
			for n := 1; n <= 60; n++ {
				k.ms = append(k.ms,
					fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"Read","input":{"file_path":"/src/main.go"}}]}`, n),
					fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":%s}]}`, n, quote(strings.Repeat(fmt.Sprintf("line of version %d\n", n), 100))))
				k.mustSend()
				k.engine.Close()
				if r := k.last.Report; r.Reason != "" {
					if r.Reason != c.want || r.Route != c.by || r.After >= r.Before {
						t.Errorf("a pour was %s by %s, from %d to %d tokens; want it %s", r.Reason, r.Route, r.Before, r.After, c.want)
					}
					return
				}
				now.pass(c.idle)
			}
			t.Error("60 rounds without a pour")
		})
	}
}
