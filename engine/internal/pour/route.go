package pour

import (
	"context"
	"slices"

	"github.com/decantdev/decant/policy"
)

// A route is one way to carry out a pour.
type route struct {
	name   string
	carry  func(ctx context.Context, p *Pour, target int) error // makes the decisions; what it leaves illegal is refused afterwards
	unsure bool                                                 // whether the provider takes thinking behind it is found out by sending it
}

// Probe is the name of the route that finds out whether the provider minds an edit in front of bound thinking.
const Probe = "edit early, to see whether the provider minds"

// The routes that there are.
var (
	editing   = route{name: "edit", carry: editRoute}
	forgetful = route{name: "edit and drop thinking", carry: dropRoute}
	dropping  = route{name: "edit, thinking dropped by the provider", carry: dropBlockRoute}
	native    = route{name: "cleared by the provider", carry: clearRoute}
	deep      = route{name: "cleared by the provider", carry: clearDeepRoute}
	folding   = route{name: "fold", carry: foldRoute}
	early     = route{name: "edit early", carry: earlyRoute}
	probing   = route{name: "edit early, to see whether the provider minds", carry: probeRoute, unsure: true}
	letting   = route{name: "edit early, thinking dropped by the provider", carry: earlyDropRoute}
	thoughts  = route{name: "drop thinking", carry: thoughtsRoute}
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

// editRoute changes old blocks and covers old messages; thinking that stays is not bound.
func editRoute(ctx context.Context, p *Pour, target int) error {
	proposal, ds, err := p.plan(ctx, target)
	if err != nil {
		return err
	}
	p.proposal, p.Draft.Outcome.Plan = proposal, proposal.Plan
	if len(ds) == 0 {
		return errPoor
	}
	return p.Draft.Add(ds)
}

// dropRoute is editRoute for bound thinking at a turn boundary: all of it goes.
func dropRoute(ctx context.Context, p *Pour, target int) error {
	if err := editRoute(ctx, p, target); err != nil {
		return err
	}
	return p.Draft.Add(p.Draft.AllThinking())
}

// thoughtsRoute drops all thinking and changes nothing else.
func thoughtsRoute(ctx context.Context, p *Pour, _ int) error {
	ds := p.Draft.AllThinking()
	if len(ds) == 0 {
		return errNoRoute
	}
	return p.Draft.Add(ds)
}
