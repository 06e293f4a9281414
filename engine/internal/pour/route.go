package pour

import (
	"slices"

	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// Probe is the name of the route that finds out whether the provider minds an edit in front of bound thinking.
const Probe = "edit early, to see whether the provider minds"

// The routes that there are.
var (
	editing      = route{name: "edit", carry: editRoute}
	forgetful    = route{name: "edit and drop thinking", carry: dropRoute}
	dropping     = route{name: "edit, thinking dropped by the provider", carry: dropBlockRoute}
	native       = route{name: "cleared by the provider", carry: clearRoute}
	deep         = route{name: "cleared by the provider", carry: clearDeepRoute}
	folding      = route{name: "fold", carry: foldRoute}
	early        = route{name: "edit early", carry: earlyRoute}
	probing      = route{name: "edit early, to see whether the provider minds", carry: probeRoute, unsure: true}
	letting      = route{name: "edit early, thinking dropped by the provider", carry: earlyDropRoute}
	routineClear = route{name: "cleared by rule, by the provider", carry: routineClearRoute}
	routineDrop  = route{name: "edit by rule, thinking dropped by the provider", carry: routineDropRoute}
	routinely    = route{name: "edit by rule", carry: routineRoute}
	thoughts     = route{name: "drop thinking", carry: thoughtsRoute}
)

// routes returns the routes that are legal in the conversation's state, cheapest first (the rules are
// in docs/reference/anthropic.md, "Bound thinking"). A fold gives up everything that is verbatim, so it is among them for legality or size only.
func (p *Pour) routes(why policy.Reason) []route {
	rs := p.legalRoutes(why)
	if why == policy.Refusal || why == policy.Overflow || p.Draft.Outcome.Before > p.Draft.Query.Limits.Must() || p.Draft.Bytes() > p.Draft.Query.MaxBytes {
		return rs
	}
	return slices.DeleteFunc(rs, func(r route) bool { return r.name == folding.name })
}

func (p *Pour) legalRoutes(why policy.Reason) []route {
	open := p.Draft.Query.Refs.Conv.OpenRound()
	switch {
	case why == policy.Refusal && open:
		return []route{folding}
	case why == policy.Refusal:
		return []route{thoughts, folding}
	case why == policy.Free, why == policy.Paid:
		return p.early().routes()
	case why == policy.Routine && p.Draft.Query.Preset.Native.Route == preset.RouteNative:
		return []route{routineClear}
	case why == policy.Routine:
		return p.early().byRule()
	case why == policy.Necessary && onlyStage(p):
		return nil
	case !p.Draft.Bound():
		return []route{editing, folding}
	case !open:
		return []route{forgetful, folding}
	}
	var rs []route
	if p.clears() {
		rs = append(rs, deep)
	}
	if p.Draft.Query.Env.DropBlock {
		rs = append(rs, dropping)
	}
	return append(rs, folding)
}

// onlyStage reports whether nothing but the second stage of a preset demands a pour, and only the provider shall make it.
func onlyStage(p *Pour) bool {
	q := p.Draft.Query
	if q.Preset.Native.Route != preset.RouteNative {
		return false
	}
	l, err := policy.LimitsFor(q.Model, q.Preset, q.Fixed, q.Refs.Conv.MaxOutput)
	return err == nil && p.Draft.Outcome.Before <= l.Trigger && p.Draft.Bytes() <= q.MaxBytes
}

// routes returns the routes of a mode.
func (m earlyMode) routes() []route {
	switch m {
	case byEditing:
		return []route{early}
	case byProbing:
		return []route{probing}
	case byClearing:
		return []route{native}
	case byDropping:
		return []route{letting}
	}
	return nil
}

// byRule returns the routes of a mode by which what the preset clears by rule goes.
func (m earlyMode) byRule() []route {
	switch m {
	case byEditing:
		return []route{routinely}
	case byClearing:
		return []route{routineClear}
	case byDropping:
		return []route{routineDrop}
	}
	return nil
}
