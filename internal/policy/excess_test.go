package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// Prices of a token, as shares of what input costs.
const writing, reading = 1.25, 0.1

// What grows by any steps is covered when carrying the excess has cost p times what writing the record again
// does. Then all of it costs at most 1 + p times what the cheapest choice of moments in hindsight costs, and
// one request of carrying for each pour and the end (docs/ECONOMICS.md, "The worst case"). Which moments are
// cheapest is found by trying all.
func TestCheckpointsCostAtMostTwiceTheBestInHindsight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 30_000), 1, 60).Draw(t, "steps")
		e := policy.Economy{
			Early: true, Write: writing, Read: reading,
			Patience: rapid.SampledFrom([]float64{1, 1.3, 2}).Draw(t, "patience"),
		}
		e.Excess.Left = rapid.IntRange(1, 60_000).Draw(t, "left")
		rewrite := float64(e.Excess.Left) * (writing - reading)
		paid, over, rent := 0.0, 0.0, 0.0
		for _, n := range steps {
			e.Excess.Freed += n
			if e.Covers() {
				paid, over = paid+rewrite, over+rent
				e.Excess.Freed, e.Excess.Carried = 0, 0
			}
			e.Excess.Carried += e.Excess.Freed
			rent = float64(e.Excess.Freed) * reading
			paid += rent
		}
		if best := hindsight(steps, rewrite); paid > (1+e.Patience)*best+over+rent+1e-6 {
			t.Fatalf("%.1f was paid, the best is %.1f", paid, best)
		}
	})
}

// hindsight returns the least that pours at the best of moments cost.
func hindsight(steps []int, rewrite float64) float64 {
	best := make([]float64, len(steps)+1) // best[i]: of all from step i on, behind a pour at i
	least := func(from int) float64 {     // nothing is carried at from
		sum, carried, out := 0.0, 0, -1.0
		for i := from; ; i++ {
			if i == len(steps) {
				if out < 0 || sum < out {
					out = sum
				}
				return out
			}
			if c := sum + rewrite + best[i+1]; out < 0 || c < out {
				out = c
			}
			carried += steps[i]
			sum += float64(carried) * reading
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		best[i+1] = least(i + 1)
	}
	return least(0)
}

// What a view carries beyond a target follows from the view alone, and behind the pour nothing counts as carried.
func TestExcessIsCountedFromTheView(t *testing.T) {
	c := reader(40)
	est := token.For(options(t, "default").Model)
	size := est.Messages(c.Messages)
	target := size / 3
	x := policy.MeasureExcess(c, size, target)
	if x.Freed != size-target || x.Left != target || x.Carried <= 0 {
		t.Fatalf("%+v of %d tokens beyond %d", x, size, target)
	}
	if y := policy.MeasureExcess(c, size, size); y.Freed != 0 || y.Carried != 0 {
		t.Errorf("nothing is beyond %d: %+v", size, y)
	}
	o := options(t, "default")
	o.Target = target
	plan, err := policy.Plan(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	view, err := decant.View(c, plan.Decisions)
	if err != nil {
		t.Fatal(err)
	}
	if y := policy.MeasureExcess(view, plan.After.Messages, target); y.Freed != 0 || y.Carried != 0 {
		t.Errorf("behind the pour: %+v", y)
	}
}

// The larger the fixed part and what is covered already, the more an early checkpoint leaves, and never more
// than any pour does.
func TestEarlyTargets(t *testing.T) {
	p := options(t, "default").Preset
	rule := p.EarlyPours.Settled()
	wide, narrow := policy.Limits{Target: 1 << 20}, policy.Limits{Target: 5000}
	off, err := p.WithEarlyPours("off")
	if err != nil {
		t.Fatal(err)
	}
	choosy := *p
	choosy.Tools.Exclude = []string{"Read"}
	for _, tt := range []struct {
		set    *preset.Preset
		l      policy.Limits
		fixed  int
		before *decant.Checkpoint
		want   int
	}{
		{p, wide, 0, nil, rule.Target},
		{p, wide, 45_000, nil, rule.Target + 15_000},
		{p, wide, 45_000, &decant.Checkpoint{Original: 640_000}, rule.Target + 35_000},
		{p, narrow, 40_000, nil, 5000},
		{p, narrow, 0, &decant.Checkpoint{Original: 640_000}, 5000},
		{off, wide, 40_000, nil, 0},
		{&choosy, wide, 40_000, nil, 0},
	} {
		if got := policy.EarlyTarget(tt.set, tt.l, tt.fixed, tt.before); got != tt.want {
			t.Errorf("%d for a fixed part of %d behind %+v, want %d", got, tt.fixed, tt.before, tt.want)
		}
	}
}

// At a cold moment a checkpoint is made where each fact costs less with it than with the other view, and its reason has
// both prices. A view that holds nothing never wins, one that holds everything in no more room always does.
func TestACheckpointMustCostLessForEachFact(t *testing.T) {
	c := reader(40)
	o := options(t, "default")
	o.Target = token.For(o.Model).Messages(c.Messages) / 3
	propose := func() *policy.Proposal {
		p, err := policy.Propose(context.Background(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := propose()
	empty := *c
	empty.Messages = c.Messages[:1]
	if !whole.Beats(t.Context(), &empty, 200_000) {
		t.Error("one message holds more for its tokens than the plan, beside a large fixed part")
	}
	cp := whole.Plan.Decisions[len(whole.Plan.Decisions)-1]
	if !strings.Contains(cp.Reason, "tokens of a prompt, with outlines") {
		t.Errorf("the reason does not say why: %q", cp.Reason)
	}
	own := propose()
	view, err := decant.View(c, own.Plan.Decisions)
	if err != nil {
		t.Fatal(err)
	}
	if own.Beats(t.Context(), view, 0) {
		t.Error(fmt.Sprint("a view beats itself: ", own.Plan.Decisions[len(own.Plan.Decisions)-1].Reason))
	}
}

// What a model would have to think again is a part of the price of a pour, whether the cache is cold or not.
func TestThinkingAgainIsPaidFor(t *testing.T) {
	s := policy.Situation{
		Limits: policy.Limits{Window: 200_000, Trigger: 180_000, Reserve: 20_000}, Tokens: 50_000, MaxBytes: 1 << 30,
		Economy: policy.Economy{Early: true, Freed: 20_000, Behind: 10_000, Write: writing, Read: reading, Spent: 12_000},
	}
	cold := s
	cold.Economy.Switched = true
	for _, c := range []struct {
		s       policy.Situation
		rethink float64
		want    policy.Reason
	}{
		{s, 0, policy.Paid}, {s, 400, policy.Paid}, {s, 600, ""},
		{cold, 0, policy.Free}, {cold, 24_000, policy.Free}, {cold, 26_000, ""},
	} {
		c.s.Economy.Rethink = c.rethink
		if got := policy.Due(c.s); got != c.want {
			t.Errorf("switched %t, %.0f to think again: %q, want %q", c.s.Economy.Switched, c.rethink, got, c.want)
		}
	}
}

// A pour for money leaves what it must, by what it takes out itself: cheap reductions that would take out more stand in
// the way of no checkpoint. In a small window the aim of any pour is enough.
func TestAPourForMoneyLeavesEnough(t *testing.T) {
	s := policy.Situation{
		Limits: policy.Limits{Window: 200_000, Trigger: 180_000, Target: 45_000, Reserve: 20_000}, Tokens: 160_000, MaxBytes: 1 << 30,
		Economy: policy.Economy{
			Early: true, Freed: 135_000, Behind: 10_000, Write: writing, Read: reading, Spent: 1e6, Least: 30_000,
			Excess: policy.Excess{Freed: 130_000, Left: 20_000, Carried: 1e7},
		},
	}
	small := s
	small.Limits = policy.Limits{Window: 50_000, Trigger: 45_000, Target: 10_000, Reserve: 5_000}
	small.Tokens, small.Economy.Freed, small.Economy.Excess.Freed, small.Economy.Excess.Left = 40_000, 20_000, 25_000, 10_000
	for _, c := range []struct {
		name string
		s    policy.Situation
		left int // tokens that a checkpoint leaves less than it would
		want policy.Reason
	}{
		{"enough", s, 0, policy.Paid}, {"too little", s, 1, ""}, {"small", small, 0, policy.Paid}, {"too little of it", small, 5_001, ""},
	} {
		c.s.Economy.Excess.Freed += c.left
		if c.want == "" {
			c.s.Economy.Freed = c.s.Economy.Excess.Freed
		}
		if got := policy.Due(c.s); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
