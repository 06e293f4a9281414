package plan

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
)

// A route that is refused leaves nothing behind (house 3.3): neither decisions nor a thinking parameter,
// a beta or a plan. It is inside the package because no client sees the difference before the next route
// has been taken.
func TestARefusedRouteLeavesNothingBehind(t *testing.T) {
	for _, failing := range []bool{true, false} {
		p := halfMegabyte(t)
		l, err := policy.LimitsFor(p.Draft.Model, p.Draft.Preset, p.Draft.Fixed, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Draft.Limits, p.Draft.Outcome.Before = l, p.Draft.Size(p.Draft.View)
		before, body := p.Draft.Outcome, string(p.Draft.Body)
		err = p.attemptRoute(t.Context(), route{name: "refused", carry: func(r *rewrite, _ context.Context) error {
			a := r.Draft
			a.Params, a.Betas = []byte(`{"type":"adaptive"}`), []string{"a-beta"}
			a.Outcome.Plan, a.Outcome.After = &decant.Plan{Reason: "refused"}, 1
			if failing {
				return errNoRoute
			}
			return a.Add([]decant.Decision{{Kind: decant.Hold}}) // nothing smaller: check refuses it
		}}, 0, policy.Necessary)
		if err == nil || failing && !errors.Is(err, errNoRoute) || !failing && !errors.Is(err, errPoor) {
			t.Fatalf("the route was taken: %v", err)
		}
		if p.Draft.Params != nil || p.Draft.Betas != nil || len(p.Draft.Made) > 0 || p.Draft.Outcome.Plan != before.Plan || p.Draft.Outcome.After != before.After {
			t.Errorf("left behind: params %s, betas %q, %d decisions, report %+v", p.Draft.Params, p.Draft.Betas, len(p.Draft.Made), p.Draft.Outcome)
		}
		if out, err := p.Draft.Render(); err != nil || string(out) != body {
			t.Errorf("the request is another one: %v", err)
		}
	}
}

// Security 3: a pour that must happen and has no time is made by the last rung, and says that nobody has proved
// anything of it. One for money is left.
func TestNoTimeTakesTheLastRung(t *testing.T) {
	for why, limit := range map[policy.Reason]func(*Settings) *time.Duration{
		policy.Necessary: func(o *Settings) *time.Duration { return &o.RequiredTimeout },
		policy.Free:      func(o *Settings) *time.Duration { return &o.OptionalTimeout },
	} {
		p := halfMegabyte(t)
		p.Draft.Preset = oneThatThins(t)
		p.Draft.Limits = policy.Limits{Window: 60_000, Trigger: 50_000, Target: 20_000, Reserve: 4000}
		p.Draft.Outcome.Before = p.Draft.Size(p.Draft.View)
		*limit(p.Draft.Settings) = time.Nanosecond
		err := p.Make(t.Context(), why)
		if why == policy.Free {
			if !errors.Is(err, context.DeadlineExceeded) || len(p.Draft.Made) > 0 || !p.Waits() {
				t.Errorf("%v, %d decisions, futile %v: an early pour in no time", err, len(p.Draft.Made), p.Waits())
			}
			continue
		}
		cp := decant.CheckpointIn(p.Draft.Made)
		if err != nil || cp == nil {
			t.Fatalf("no pour: %v", err)
		}
		if cp.Rung != decant.RungHeadTail || cp.Score != 0 || !cp.Poor || p.Draft.Outcome.After > p.Draft.Limits.Target {
			t.Errorf("rung %s, score %g, poor %v, %d tokens", cp.Rung, cp.Score, cp.Poor, p.Draft.Outcome.After)
		}
	}
}

// A cold resume is never dearer than a poured one: what finds nothing in the cache is poured, also where the plan
// takes longer than a request waits for one that saves money. A trial keeps nobody waiting for it.
func TestAColdResumeWaitsForItsPlan(t *testing.T) {
	for _, tt := range []struct {
		name     string
		idle     time.Duration
		observed bool
		poured   bool
	}{{"Cold", time.Hour, false, true}, {"Warm", time.Minute, false, false}, {"Observed", time.Hour, true, false}} {
		t.Run(tt.name, func(t *testing.T) {
			p := halfMegabyte(t)
			in := p.Draft.Input
			p.Draft.Preset = oneThatThins(t)
			p.Draft.Limits = policy.Limits{Window: 200_000, Trigger: 180_000, Target: 50_000, Reserve: 4000}
			in.Observed = tt.observed
			p.Draft.Outcome.Before = p.Draft.Size(p.Draft.View)
			p.money = policy.Economy{Early: true, Lifetime: 5 * time.Minute, Idle: tt.idle}
			in.OptionalTimeout = time.Nanosecond
			err := p.Make(t.Context(), policy.Free)
			if poured := len(p.Draft.Made) > 0; poured != tt.poured || tt.poured != (err == nil) {
				t.Errorf("%d decisions, error %v", len(p.Draft.Made), err)
			}
		})
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
