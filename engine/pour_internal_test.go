package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// A route that is refused leaves nothing behind (house 3.3): neither decisions nor a thinking parameter,
// a beta or a plan. It is inside the package because no client sees the difference before the next route
// has been taken.
func TestARefusedRouteLeavesNothingBehind(t *testing.T) {
	for _, failing := range []bool{true, false} {
		a := halfMegabyte(t)
		l, err := policy.LimitsFor(a.dr.q.model, a.dr.q.preset, a.dr.q.fixed, 0)
		if err != nil {
			t.Fatal(err)
		}
		a.dr.q.limits, a.dr.outcome.Before = l, a.dr.size(a.dr.view)
		before, body := a.dr.outcome, string(a.dr.q.req.Body)
		err = (&pouring{dr: a.dr}).attemptRoute(t.Context(), route{name: "refused", carry: func(_ context.Context, p *pouring, _ int) error {
			a := p.dr
			a.params, a.betas = []byte(`{"type":"adaptive"}`), []string{anthropic.BindingBeta}
			a.outcome.Plan, a.outcome.After = &decant.Plan{Reason: "refused"}, 1
			if failing {
				return errNoRoute
			}
			return a.add([]decant.Decision{{Kind: decant.Hold}}) // nothing smaller: check refuses it
		}}, 0, policy.Necessary)
		if err == nil || failing && !errors.Is(err, errNoRoute) || !failing && !errors.Is(err, errPoor) {
			t.Fatalf("the route was taken: %v", err)
		}
		if a.dr.params != nil || a.dr.betas != nil || len(a.dr.made) > 0 || a.dr.outcome.Plan != before.Plan || a.dr.outcome.After != before.After {
			t.Errorf("left behind: params %s, betas %q, %d decisions, report %+v", a.dr.params, a.dr.betas, len(a.dr.made), a.dr.outcome)
		}
		if out, err := a.dr.render(); err != nil || string(out) != body {
			t.Errorf("the request is another one: %v", err)
		}
	}
}

// Security 3: a pour that must happen and has no time is made by the last rung, and says that nobody has proved
// anything of it. One for money is left.
func TestNoTimeTakesTheLastRung(t *testing.T) {
	for why, limit := range map[policy.Reason]func(*env) *time.Duration{
		policy.Necessary: func(o *env) *time.Duration { return &o.RequiredTimeout },
		policy.Free:      func(o *env) *time.Duration { return &o.OptionalTimeout },
	} {
		a := halfMegabyte(t)
		a.dr.q.preset = oneThatThins(t)
		a.dr.q.limits = policy.Limits{Window: 60_000, Trigger: 50_000, Target: 20_000, Reserve: 4000}
		a.dr.outcome.Before = a.dr.size(a.dr.view)
		*limit(a.dr.q.env) = time.Nanosecond
		p := &pouring{dr: a.dr}
		err := p.pour(t.Context(), why)
		if why == policy.Free {
			if !errors.Is(err, context.DeadlineExceeded) || len(a.dr.made) > 0 || !p.futile() {
				t.Errorf("%v, %d decisions, futile %v: an early pour in no time", err, len(a.dr.made), p.futile())
			}
			continue
		}
		cp := decant.CheckpointIn(a.dr.made)
		if err != nil || cp == nil {
			t.Fatalf("no pour: %v", err)
		}
		if cp.Rung != decant.RungHeadTail || cp.Score != 0 || !cp.Poor || a.dr.outcome.After > a.dr.q.limits.Target {
			t.Errorf("rung %s, score %g, poor %v, %d tokens", cp.Rung, cp.Score, cp.Poor, a.dr.outcome.After)
		}
	}
}

func oneThatThins(t *testing.T) *preset.Preset {
	t.Helper()
	p, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	return p
}
