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
	carry  func(a *attempt, ctx context.Context, target int) error // makes the decisions; what it leaves illegal is refused afterwards
	unsure bool                                                    // whether the provider takes thinking behind it is found out by sending it
}

// The routes that there are.
var (
	editing   = route{name: "edit", carry: (*attempt).editRoute}
	forgetful = route{name: "edit and drop thinking", carry: (*attempt).dropRoute}
	dropping  = route{name: "edit, thinking dropped by the provider", carry: (*attempt).dropBlockRoute}
	native    = route{name: "cleared by the provider", carry: (*attempt).clearRoute}
	deep      = route{name: "cleared by the provider", carry: (*attempt).clearDeepRoute}
	folding   = route{name: "fold", carry: (*attempt).foldRoute}
	early     = route{name: "edit early", carry: (*attempt).earlyRoute}
	probing   = route{name: "edit early, to see whether the provider minds", carry: (*attempt).probeRoute, unsure: true}
	letting   = route{name: "edit early, thinking dropped by the provider", carry: (*attempt).earlyDropRoute}
	thoughts  = route{name: "drop thinking", carry: (*attempt).thoughtsRoute}
)

// routes returns the routes that are legal in the conversation's state, cheapest first (design,
// section 5). A fold gives up everything that is verbatim, so it is among them for legality or size only.
func (a *attempt) routes(why policy.Reason) []route {
	rs := a.legalRoutes(why)
	if why == policy.Refusal || why == policy.Overflow || a.report.Before > a.limits.Must() || a.bytes() > a.most {
		return rs
	}
	return slices.DeleteFunc(rs, func(r route) bool { return r.name == folding.name })
}

func (a *attempt) legalRoutes(why policy.Reason) []route {
	open := a.Conv.OpenRound()
	switch {
	case why == policy.Refusal && open:
		return []route{folding}
	case why == policy.Refusal:
		return []route{thoughts, folding}
	case why == policy.Free, why == policy.Paid:
		return a.early().routes()
	case !a.bound():
		return []route{editing, folding}
	case !open:
		return []route{forgetful, folding}
	}
	var rs []route
	if a.clears() {
		rs = append(rs, deep)
	}
	if a.e.opts.DropBlock {
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
func (a *attempt) early() earlyMode {
	switch {
	case !a.bound() || !a.Conv.OpenRound():
		return byEditing
	case a.probes():
		return byProbing
	case a.clears():
		return byClearing
	case a.e.opts.DropBlock:
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
func (a *attempt) editRoute(ctx context.Context, target int) error {
	p, ds, err := a.plan(ctx, target)
	if err != nil {
		return err
	}
	a.report.Plan = p
	if len(ds) == 0 {
		return errPoor
	}
	return a.add(ds)
}

// dropRoute is editRoute for bound thinking at a turn boundary: all of it goes.
func (a *attempt) dropRoute(ctx context.Context, target int) error {
	if err := a.editRoute(ctx, target); err != nil {
		return err
	}
	return a.add(a.allThinking())
}

// thoughtsRoute drops all thinking and changes nothing else.
func (a *attempt) thoughtsRoute(ctx context.Context, _ int) error {
	ds := a.allThinking()
	if len(ds) == 0 {
		return errNoRoute
	}
	return a.add(ds)
}

// allThinking returns decisions that drop every thinking block of the view.
func (a *attempt) allThinking() []decant.Decision {
	return policy.ThinkingFrom(a.view, 0, 0, a.est)
}

// keepDropping has the provider go on dropping thinking that was written on top of what a pour has
// changed since: the instruction holds for one request only.
func (a *attempt) keepDropping() {
	if !a.e.opts.DropBlock || !a.model.Binds || !poured(a.inForce) {
		return
	}
	if params, ok := anthropic.DropBlock(a.r.Doc.Source); ok {
		a.params, a.betas = params, []string{anthropic.BindingBeta}
	}
}

// poured reports whether a pour is among ds that changed what is sent of old history.
func poured(ds []decant.Decision) bool {
	return slices.ContainsFunc(ds, func(d decant.Decision) bool {
		return d.Kind != decant.Native && d.Kind != decant.Insert && strings.HasPrefix(d.ID, policy.PourMark)
	})
}

// dropBlockRoute is editRoute for bound thinking in an open round: the provider drops it.
func (a *attempt) dropBlockRoute(ctx context.Context, target int) error {
	params, ok := anthropic.DropBlock(a.r.Doc.Source)
	if !ok {
		return errNoRoute
	}
	a.params, a.betas = params, []string{anthropic.BindingBeta}
	if err := a.editRoute(ctx, target); err != nil {
		return fmt.Errorf("with drop_block: %w", err)
	}
	return nil
}

// earlyDropRoute is earlyRoute for bound thinking in an open round: the provider drops it.
func (a *attempt) earlyDropRoute(ctx context.Context, target int) error {
	params, ok := anthropic.DropBlock(a.r.Doc.Source)
	if !ok {
		return errNoRoute
	}
	a.params, a.betas = params, []string{anthropic.BindingBeta}
	return a.probeRoute(ctx, target)
}
