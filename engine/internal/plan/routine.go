package plan

import (
	"context"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/match"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// hasRoutine reports whether something has become old that the preset clears by rule. A request that only repeats another goes
// out as that one did.
func hasRoutine(p *Pour) bool {
	in := p.Draft.Input
	if p.Draft.Slides() || !policy.HasRoutine(staged(p)) || in.Match.State == nil || in.Match.Relation != match.Continues {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), in.OptionalTimeout)
	defer cancel()
	return len(routine(ctx, p)) > 0
}

// staged returns the preset by which something is cleared by rule: where only the provider shall do that, and can be asked to,
// its numbers hold as they do for Decant.
func staged(p *Pour) *preset.Preset {
	set := p.Draft.Preset
	if set.Native.Route != preset.RouteNative || !p.clears() {
		return set
	}
	out := *set
	out.Native.Route = preset.RouteAuto
	return &out
}

// routine returns what the preset clears by rule.
func routine(ctx context.Context, p *Pour) []decant.Decision {
	t := p.thinning()
	t.Preset = staged(p)
	return p.settle(policy.ClearRoutine(ctx, p.Draft.View, t, p.Draft.Outcome.Before))
}

// routineRoute clears what the preset clears by rule.
func routineRoute(ctx context.Context, p *Pour, _ int) error {
	ds := routine(ctx, p)
	if len(ds) == 0 {
		return errPoor
	}
	return p.forgetting(ds)
}

// routineDropRoute is routineRoute for bound thinking in an open round: the provider drops it.
func routineDropRoute(ctx context.Context, p *Pour, _ int) error {
	if !p.Draft.LetDrop() {
		return errNoRoute
	}
	return p.Draft.Add(routine(ctx, p))
}

// routineClearRoute is routineRoute for bound thinking in an open round: the provider leaves out what is old, and goes on doing so
// by the same rule until the next pour.
func routineClearRoute(ctx context.Context, p *Pour, _ int) error {
	e := p.Draft.Preset.Native.Editing
	if !e.On() {
		return errNoRoute
	}
	rule := p.Draft.Preset.EarlyPours.Settled()
	rule.Keep = max(1, e.KeepCalls)
	return p.clear(ctx, rule)
}
