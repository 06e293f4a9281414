package cost_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/internal/cost"
)

// Whatever the user does, keeping warm makes a conversation at most a fiftieth dearer, and one pause at most twice as
// dear as it is for somebody who knows how long it lasts, unless there was no money to go on.
func TestKeepWarmHasAWorstCase(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var k cost.KeepWarm
		for range rapid.IntRange(1, 50).Draw(rt, "requests") {
			k.Paid += rapid.Float64Range(0, 2).Draw(rt, "paid")
			one := rapid.Float64Range(0.001, 0.2).Draw(rt, "one")
			lost := one * rapid.Float64Range(0, 40).Draw(rt, "times")
			lives := rapid.IntRange(0, 60).Draw(rt, "pause") // as long as so many lifetimes
			sent, n := 0.0, 0
			for n < lives && k.Ping(sent, one, lost) {
				sent, n, k.Spent = sent+one, n+1, k.Spent+one
			}
			pays := sent
			if n < lives {
				pays += lost
			} else if lives > 0 {
				k.Saved += lost
			}
			best := min(float64(lives)*one, lost)
			if broke := n < lives && sent+one <= lost; !broke && pays > 2*best+1e-9 {
				rt.Fatalf("a pause of %d lifetimes costs %g, at best %g", lives, pays, best)
			}
			if with := k.Paid + k.Spent - k.Saved; with > (1+cost.KeepWarmShare)*k.Paid+1e-9 {
				rt.Fatalf("%g with, %g without", with, k.Paid)
			}
		}
	})
}

func TestKeepWarmWaitsUntilItCanAffordIt(t *testing.T) {
	k := cost.KeepWarm{Paid: 1}
	if k.Ping(0, 0.05, 1) {
		t.Error("a fiftieth of a dollar is not enough for five cents")
	}
	k.Paid = 3
	if !k.Ping(0, 0.05, 1) || k.Ping(0.96, 0.05, 1) {
		t.Error("it keeps warm while that costs less than writing anew, and not any longer")
	}
}
