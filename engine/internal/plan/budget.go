package plan

import (
	"context"

	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// tighten makes pours come earlier and go deeper when a budget would nearly be spent with the request, unless the
// fixed part leaves no room for that.
func (a *attempt) tighten(ctx context.Context) {
	in := a.dr.Input
	if len(in.Budgets) == 0 {
		return
	}
	id := ""
	if in.Match.Stored != nil {
		id = in.Match.Stored.Key.ID
	}
	if !a.by.Purse.Tight(ctx, a.dr.Reservation(id)) {
		return
	}
	p := eager(a.dr.Preset, in.Model.Window)
	if l, err := a.dr.limitsBy(p); err == nil {
		a.dr.Preset, a.dr.Limits, a.dr.Pressed = p, l, true
	}
}

// limitsBy returns the limits of the request by a preset. The second stage of one that leaves it to the provider counts
// where the provider can be asked.
func (dr *Draft) limitsBy(set *preset.Preset) (policy.Limits, error) {
	if n := set.Native; n.Route == preset.RouteNative && n.Compaction.On() && (dr.compacts() || dr.Pauses()) {
		staged := *set
		staged.Native.Route = preset.RouteAuto
		set = &staged
	}
	return policy.LimitsFor(dr.Model, set, dr.Fixed, dr.Conv.MaxOutput)
}

// pressing returns the early pours with which a budget that is nearly spent is stretched.
func pressing() preset.EarlyPours { return preset.EarlyPours{Level: "high", Patience: 0.5, Keep: 1} }

// eager returns the preset that is used when a budget is nearly spent: it pours at half the size,
// and for money as early as any level does, whether or not that is permitted otherwise.
func eager(p *preset.Preset, window int) *preset.Preset {
	out := *p
	out.EarlyPours = pressing()
	if half := window / 2; out.Trigger.Tokens == 0 || out.Trigger.Tokens > half {
		out.Trigger.Tokens = half
	}
	return &out
}
