package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
)

// A route is one way to carry out a pour.
type route struct {
	name  string
	carry func(a *attempt, target int) error // makes the decisions; what it leaves illegal is refused afterwards
}

// The local routes. The provider's own compaction and editing will stand before them in routes.
var (
	editing   = route{"edit", (*attempt).editRoute}
	forgetful = route{"edit and drop thinking", (*attempt).dropRoute}
	dropping  = route{"edit, thinking dropped by the provider", (*attempt).dropBlockRoute}
	folding   = route{"fold", (*attempt).foldRoute}
	early     = route{"edit early", (*attempt).earlyRoute}
	thoughts  = route{"drop thinking", (*attempt).thoughtsRoute}
)

// routes returns the routes that are legal in the conversation's state, cheapest first (design,
// section 5).
func (a *attempt) routes(why Reason) []route {
	open := openRound(a.conv)
	switch {
	case why == Refusal && open:
		return []route{folding}
	case why == Refusal:
		return []route{thoughts, folding}
	case why == Free, why == Paid:
		return []route{early}
	case !a.bound():
		return []route{editing, folding}
	case !open:
		return []route{forgetful, folding}
	case a.e.opts.DropBlock:
		return []route{dropping, folding}
	}
	return []route{folding}
}

// bound reports whether the view holds thinking that is bound to what stands before it.
func (a *attempt) bound() bool {
	if !a.model.Binds || a.conv.Thinking == decant.ThinkingOff {
		return false
	}
	for i := range a.before.Messages {
		for k := range a.before.Messages[i].Blocks {
			if a.before.Messages[i].Blocks[k].Kind == decant.KindThinking {
				return true
			}
		}
	}
	return false
}

// openRound reports whether the model has still to answer to results of its calls, or to go on.
func openRound(c *decant.Conversation) bool {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := &c.Messages[i]
		switch m.Role {
		case decant.RoleAssistant:
			return i == len(c.Messages)-1 || brings(m, decant.KindUse)
		case decant.RoleUser:
			if brings(m, decant.KindResult) {
				return true
			}
		}
	}
	return false
}

// editRoute changes old blocks and covers old messages; thinking that stays is not bound.
func (a *attempt) editRoute(target int) error {
	p, ds, err := a.plan(target)
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
func (a *attempt) dropRoute(target int) error {
	if err := a.editRoute(target); err != nil {
		return err
	}
	return a.add(a.allThinking())
}

// thoughtsRoute drops all thinking and changes nothing else.
func (a *attempt) thoughtsRoute(int) error {
	ds := a.allThinking()
	if len(ds) == 0 {
		return errNoRoute
	}
	return a.add(ds)
}

// allThinking returns decisions that drop every thinking block of the view.
func (a *attempt) allThinking() []decant.Decision {
	var ds []decant.Decision
	for i := range a.view.Messages {
		for k := range a.view.Messages[i].Blocks {
			b := &a.view.Messages[i].Blocks[k]
			if b.Kind != decant.KindThinking || b.Ref.Message == 0 {
				continue
			}
			ds = append(ds, decant.Decision{
				Kind: decant.DropThinking, Reduction: "thinking", Reason: "it is bound to the history before the pour",
				Target: decant.TargetOf(b), Handle: decant.HandleOf(b.Hash()), Before: a.est.Block(b),
			})
		}
	}
	return ds
}

// keepDropping has the provider go on dropping thinking that was written on top of what a pour has
// changed since: the instruction holds for one request only.
func (a *attempt) keepDropping() {
	if !a.e.opts.DropBlock || !a.model.Binds || !poured(a.inForce) {
		return
	}
	if params, ok := dropBlock(a.r.doc.Source); ok {
		a.params, a.betas = params, []string{bindingBeta}
	}
}

// poured reports whether a pour is among ds.
func poured(ds []decant.Decision) bool {
	return slices.ContainsFunc(ds, func(d decant.Decision) bool { return strings.HasPrefix(d.ID, pourMark) })
}

// dropBlockRoute is editRoute for bound thinking in an open round: the provider drops it.
func (a *attempt) dropBlockRoute(target int) error {
	params, ok := dropBlock(a.r.doc.Source)
	if !ok {
		return errNoRoute
	}
	was, betas := a.params, a.betas
	a.params, a.betas = params, []string{bindingBeta}
	if err := a.editRoute(target); err != nil {
		a.params, a.betas = was, betas
		return fmt.Errorf("with drop_block: %w", err)
	}
	return nil
}
