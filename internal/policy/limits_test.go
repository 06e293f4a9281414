package policy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// The window of a preset is a maximum. It makes a large window smaller and never a small one larger.
func TestPresetWindowIsAMaximum(t *testing.T) {
	for _, c := range []struct{ model, preset, trigger int }{
		{1_000_000, 200_000, 180_000},
		{200_000, 200_000, 180_000},
		{100_000, 200_000, 80_000},
		{1_000_000, 0, 980_000},
	} {
		p := &preset.Preset{Trigger: preset.Trigger{Window: c.preset, Reserve: 20_000}}
		l, err := policy.LimitsFor(token.Model{Window: c.model}, p, 0, 0)
		if err != nil || l.Trigger != c.trigger || l.Window != c.model {
			t.Errorf("a model of %d and a preset of %d: %+v, %v; want a pour over %d", c.model, c.preset, l, err, c.trigger)
		}
	}
}

// Results of the protected messages of the assistant stay as they are, in pours of both kinds, and
// older ones go first.
func TestProtectedResultsAreNotReduced(t *testing.T) {
	const rounds, protect = 30, 20
	c := work(rounds, 4000)
	o := options(t, "default")
	o.Target = token.For(o.Model).Messages(c.Messages) * 8 / 10
	for _, n := range []int{0, protect} {
		p := *o.Preset
		p.Reduce.Protect, p.EarlyPours.Keep = n, 2
		o.Preset = &p
		plan, _ := planned(t, c, o)
		t.Run(fmt.Sprint("Plan/", n), func(t *testing.T) { protected(t, c, plan.Decisions, n) })
		thin := policy.PlanEarly(context.Background(), c, policy.EarlyPour{Preset: &p, Counter: token.For(o.Model)})
		t.Run(fmt.Sprint("PlanEarly/", n), func(t *testing.T) { protected(t, c, thin, n) })
	}
}

// protected checks that decisions touch nothing of the newest n rounds, and something before them.
func protected(t *testing.T, c *decant.Conversation, ds []decant.Decision, n int) {
	t.Helper()
	rounds := decant.Rounds(c.Messages)
	first := c.Messages[rounds[len(rounds)-max(n, 1)].Start].Number
	if len(ds) == 0 {
		t.Error("nothing is reduced")
	}
	for _, d := range ds {
		if d.Target.Message >= first {
			t.Errorf("%s of m%d, in the newest %d rounds", d.Reduction, d.Target.Message, n)
		}
	}
}
