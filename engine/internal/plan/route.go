package plan

import (
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
)

// RouteProbe is the name of the route that finds out whether the provider minds an edit in front of bound thinking.
const RouteProbe = "edit early, to see whether the provider minds"

// The routes by which a request goes out again whose thinking the provider has refused, mildest first.
const (
	RouteUnfitting = "thinking dropped by the provider"
	RouteForgetful = "drop thinking"
	RouteFoldTurn  = "fold of the turn"
	RouteFold      = "fold"
)

// The routes that there are.
var (
	editing      = route{name: "edit", carry: editRoute, plans: true}
	forgetful    = route{name: "edit and drop thinking", carry: dropRoute, plans: true}
	dropping     = route{name: "edit, thinking dropped by the provider", carry: dropBlockRoute, plans: true}
	native       = route{name: "cleared by the provider", carry: clearRoute}
	deep         = route{name: "cleared by the provider", carry: clearDeepRoute}
	folding      = route{name: RouteFold, carry: foldRoute}
	foldingTurn  = route{name: RouteFoldTurn, carry: turnFoldRoute}
	early        = route{name: "edit early", carry: earlyRoute}
	covering     = route{name: "checkpoint early", carry: coverRoute}
	probing      = route{name: RouteProbe, carry: probeRoute, unsure: true}
	letting      = route{name: "edit early, thinking dropped by the provider", carry: earlyDropRoute}
	routineClear = route{name: "cleared by rule, by the provider", carry: routineClearRoute}
	routineDrop  = route{name: "edit by rule, thinking dropped by the provider", carry: routineDropRoute}
	routinely    = route{name: "edit by rule", carry: routineRoute}
	thoughts     = route{name: RouteForgetful, carry: thoughtsRoute}
	bare         = route{name: RouteForgetful, carry: thoughtsRoute, unsure: true}
	unfitting    = route{name: RouteUnfitting, carry: unfittingRoute}
)

// routes returns the routes that are legal in the conversation's state, cheapest first (the rules are
// in docs/reference/anthropic.md, "Bound thinking"). A fold gives up everything that is verbatim, so it is among them for legality or size only.
func (p *Pour) routes(why policy.Reason) []route {
	rs := p.legalRoutes(why)
	if why == policy.Refusal || why == policy.Overflow || p.Draft.Outcome.Before > p.Draft.Limits.Must() || p.Draft.Bytes() > p.Draft.MaxBytes {
		return rs
	}
	if why == policy.Necessary && p.Draft.Preset.Native.Route == preset.RouteNative {
		return nil // what the window does not demand is the provider's
	}
	return slices.DeleteFunc(rs, func(r route) bool { return r.name == folding.name })
}

func (p *Pour) legalRoutes(why policy.Reason) []route {
	open := p.Draft.Conv.OpenRound()
	switch {
	case why == policy.Refusal:
		return p.ladder(open)
	case (why == policy.Free || why == policy.Paid) && p.money.Covers():
		return append([]route{covering}, p.early().routes()...)
	case why == policy.Free, why == policy.Paid:
		return p.early().routes()
	case why == policy.Routine && p.Draft.Preset.Native.Route == preset.RouteNative:
		return []route{routineClear}
	case why == policy.Routine:
		return byRule(p)
	case !p.Draft.Bound():
		return []route{editing, folding}
	case !open:
		return []route{forgetful, folding}
	}
	var rs []route
	if p.clears() {
		rs = append(rs, deep)
	}
	if p.Draft.DropBlock {
		rs = append(rs, dropping)
	}
	return append(rs, folding)
}

// ladder returns the routes that are left after a refusal of thinking. The client's own bytes have been refused. Whether
// the provider takes a turn under way without its thinking is found out; a client that recovers by itself would try
// nothing else.
func (p *Pour) ladder(open bool) (out []route) {
	in := p.Draft.Input
	if in.DropBlock && p.Draft.Params == nil && in.Demand.Tried == "" {
		out = append(out, unfitting)
	}
	switch tried := in.Demand.Tried; {
	case tried == RouteFoldTurn: // all of it is left to fold
	case !open && tried != RouteForgetful:
		out = append(out, thoughts)
	case open && tried != RouteForgetful && in.Conv.Thinking != decant.ThinkingManual && in.Known.Says(TopicBare(in.Model.ID), in.Now()) == "":
		out = append(out, bare, foldingTurn)
	case open:
		out = append(out, foldingTurn)
	}
	return append(out, folding)
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

// byRule returns the routes by which what the preset clears by rule goes.
func byRule(p *Pour) (out []route) {
	if !p.Draft.Bound() || !p.Draft.Conv.OpenRound() {
		return []route{routinely}
	}
	if p.clears() {
		out = append(out, routineClear)
	}
	if p.Draft.DropBlock {
		out = append(out, routineDrop)
	}
	return out
}
