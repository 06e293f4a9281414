package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect/anthropic"
	"github.com/decantdev/decant/policy"
)

// A route is one way to carry out a pour.
type route struct {
	name   string
	carry  func(ctx context.Context, dr *draft, target int) error // makes the decisions; what it leaves illegal is refused afterwards
	unsure bool                                                   // whether the provider takes thinking behind it is found out by sending it
}

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
func (dr *draft) routes(why policy.Reason) []route {
	rs := dr.legalRoutes(why)
	if why == policy.Refusal || why == policy.Overflow || dr.report.Before > dr.q.limits.Must() || dr.bytes() > dr.q.most {
		return rs
	}
	return slices.DeleteFunc(rs, func(r route) bool { return r.name == folding.name })
}

func (dr *draft) legalRoutes(why policy.Reason) []route {
	open := dr.q.refs.Conv.OpenRound()
	switch {
	case why == policy.Refusal && open:
		return []route{folding}
	case why == policy.Refusal:
		return []route{thoughts, folding}
	case why == policy.Free, why == policy.Paid:
		return dr.early().routes()
	case !dr.bound():
		return []route{editing, folding}
	case !open:
		return []route{forgetful, folding}
	}
	var rs []route
	if dr.clears() {
		rs = append(rs, deep)
	}
	if dr.q.e.opts.DropBlock {
		rs = append(rs, dropping)
	}
	return append(rs, folding)
}

// An earlyMode is how history may be poured for money.
type earlyMode uint8

const (
	notEarly   earlyMode = iota // there is no legal way
	byEditing                   // old results are edited, and old thinking goes
	byProbing                   // the same, but all thinking stays: whether that is legal is found out
	byClearing                  // the provider leaves old results out
	byDropping                  // old results are edited, and the provider drops thinking behind them
)

// early returns how the request may be poured for money.
func (dr *draft) early() earlyMode {
	switch {
	case !dr.bound() || !dr.q.refs.Conv.OpenRound():
		return byEditing
	case dr.probes():
		return byProbing
	case dr.clears():
		return byClearing
	case dr.q.e.opts.DropBlock:
		return byDropping
	}
	return notEarly
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

// editRoute changes old blocks and covers old messages; thinking that stays is not bound.
func editRoute(ctx context.Context, dr *draft, target int) error {
	p, ds, err := dr.plan(ctx, target)
	if err != nil {
		return err
	}
	dr.report.Plan = p
	if len(ds) == 0 {
		return errPoor
	}
	return dr.add(ds)
}

// dropRoute is editRoute for bound thinking at a turn boundary: all of it goes.
func dropRoute(ctx context.Context, dr *draft, target int) error {
	if err := editRoute(ctx, dr, target); err != nil {
		return err
	}
	return dr.add(dr.allThinking())
}

// thoughtsRoute drops all thinking and changes nothing else.
func thoughtsRoute(ctx context.Context, dr *draft, _ int) error {
	ds := dr.allThinking()
	if len(ds) == 0 {
		return errNoRoute
	}
	return dr.add(ds)
}

// allThinking returns decisions that drop every thinking block of the view.
func (dr *draft) allThinking() []decant.Decision {
	return policy.ThinkingFrom(dr.view, 0, 0, dr.q.est)
}

// keepDropping has the provider go on dropping thinking that was written on top of what a pour has
// changed since: the instruction holds for one request only.
func (dr *draft) keepDropping() {
	if !dr.q.e.opts.DropBlock || !dr.q.model.Binds || !poured(dr.inForce) {
		return
	}
	if params, ok := anthropic.DropBlock(dr.q.r.Doc.Source); ok {
		dr.params, dr.betas = params, []string{anthropic.BindingBeta}
	}
}

// poured reports whether a pour is among ds that changed what is sent of old history.
func poured(ds []decant.Decision) bool {
	return slices.ContainsFunc(ds, func(d decant.Decision) bool {
		return d.Kind != decant.Native && d.Kind != decant.Insert && strings.HasPrefix(d.ID, policy.PourMark)
	})
}

// dropBlockRoute is editRoute for bound thinking in an open round: the provider drops it.
func dropBlockRoute(ctx context.Context, dr *draft, target int) error {
	params, ok := anthropic.DropBlock(dr.q.r.Doc.Source)
	if !ok {
		return errNoRoute
	}
	dr.params, dr.betas = params, []string{anthropic.BindingBeta}
	if err := editRoute(ctx, dr, target); err != nil {
		return fmt.Errorf("with drop_block: %w", err)
	}
	return nil
}

// earlyDropRoute is earlyRoute for bound thinking in an open round: the provider drops it.
func earlyDropRoute(ctx context.Context, dr *draft, target int) error {
	params, ok := anthropic.DropBlock(dr.q.r.Doc.Source)
	if !ok {
		return errNoRoute
	}
	dr.params, dr.betas = params, []string{anthropic.BindingBeta}
	return probeRoute(ctx, dr, target)
}
