package plan

import (
	"context"
	"errors"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
)

// Errors of a pour that the next route or target may not have.
var (
	errPoor     = errors.New("the pour would free too little")
	errTooLarge = errors.New("the view would still be too large")
	errNoRoute  = errors.New("not possible here")
)

// A route is one way to carry out a pour.
type route struct {
	name   string
	carry  func(*rewrite, context.Context) error // makes the decisions; what it leaves illegal is refused afterwards
	plans  bool                                  // a plan that was prepared will do for it
	unsure bool                                  // whether the provider takes thinking behind it is found out by sending it
}

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
	editing      = route{name: "edit", carry: (*rewrite).editRoute, plans: true}
	forgetful    = route{name: "edit and drop thinking", carry: (*rewrite).dropRoute, plans: true}
	dropping     = route{name: "edit, thinking dropped by the provider", carry: (*rewrite).dropBlockRoute, plans: true}
	native       = route{name: "cleared by the provider", carry: (*rewrite).clearRoute}
	deep         = route{name: "cleared by the provider", carry: (*rewrite).clearDeepRoute}
	folding      = route{name: RouteFold, carry: (*rewrite).foldRoute}
	foldingTurn  = route{name: RouteFoldTurn, carry: (*rewrite).turnFoldRoute}
	early        = route{name: "edit early", carry: (*rewrite).earlyRoute}
	covering     = route{name: "checkpoint early", carry: (*rewrite).coverRoute, plans: true}
	probing      = route{name: RouteProbe, carry: (*rewrite).probeRoute, unsure: true}
	letting      = route{name: "edit early, thinking dropped by the provider", carry: (*rewrite).earlyDropRoute}
	routineClear = route{name: "cleared by rule, by the provider", carry: (*rewrite).routineClearRoute}
	routineDrop  = route{name: "edit by rule, thinking dropped by the provider", carry: (*rewrite).routineDropRoute}
	routinely    = route{name: "edit by rule", carry: (*rewrite).routineRoute}
	thoughts     = route{name: RouteForgetful, carry: (*rewrite).thoughtsRoute}
	bare         = route{name: RouteForgetful, carry: (*rewrite).thoughtsRoute, unsure: true}
	unfitting    = route{name: RouteUnfitting, carry: (*rewrite).unfittingRoute}
)

// routes returns the routes that are legal in the conversation's state, cheapest first (the rules are in
// docs/reference/anthropic.md, "Bound thinking"). A fold gives up everything that is verbatim, so it is among them for
// legality or size only.
func (s *Schedule) routes(why policy.Reason) []route {
	dr := s.Draft
	rs := s.legalRoutes(why)
	if why == policy.Refusal || why == policy.Overflow || dr.Outcome.Before > dr.Limits.Must() || dr.Bytes() > dr.MaxBytes {
		return rs
	}
	if why == policy.Necessary && dr.Preset.Native.Route == preset.RouteNative {
		return nil // what the window does not demand is the provider's
	}
	return slices.DeleteFunc(rs, func(r route) bool { return r.name == folding.name })
}

func (s *Schedule) legalRoutes(why policy.Reason) []route {
	dr := s.Draft
	open := dr.Conv.OpenRound()
	switch {
	case why == policy.Refusal:
		return s.ladder(open)
	case (why == policy.Free || why == policy.Paid) && s.money.Covers():
		return append([]route{covering}, s.early().routes()...)
	case why == policy.Free, why == policy.Paid:
		return s.early().routes()
	case why == policy.Routine && dr.Preset.Native.Route == preset.RouteNative:
		return []route{routineClear}
	case why == policy.Routine:
		return s.routineRoutes()
	case !dr.Bound():
		return []route{editing, folding}
	case !open:
		return []route{forgetful, folding}
	}
	var rs []route
	if s.clears() {
		rs = append(rs, deep)
	}
	if dr.DropBlock {
		rs = append(rs, dropping)
	}
	return append(rs, folding)
}

// ladder returns the routes that are left after a refusal of thinking. The client's own bytes have been refused.
// Whether the provider takes a turn under way without its thinking is found out; a client that recovers by itself would
// try nothing else.
func (s *Schedule) ladder(open bool) (out []route) {
	dr := s.Draft
	if dr.DropBlock && dr.Params == nil && dr.Demand.Tried == "" {
		out = append(out, unfitting)
	}
	switch tried := dr.Demand.Tried; {
	case tried == RouteFoldTurn: // all of it is left to fold
	case !open && tried != RouteForgetful:
		out = append(out, thoughts)
	case open && tried != RouteForgetful && dr.Conv.Thinking != decant.ThinkingManual && dr.Known.Says(TopicBare(dr.Model.ID), dr.Now()) == "":
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

// routineRoutes returns the routes by which what the preset clears by rule goes.
func (s *Schedule) routineRoutes() (out []route) {
	dr := s.Draft
	if !dr.Bound() || !dr.Conv.OpenRound() {
		return []route{routinely}
	}
	if s.clears() {
		out = append(out, routineClear)
	}
	if dr.DropBlock {
		out = append(out, routineDrop)
	}
	return out
}
