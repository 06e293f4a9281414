package engine

import (
	"fmt"
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// withdrawn returns decisions that take back the pours which were made for a tail that the request
// replaces: it may need none. What people have decided meanwhile stays.
func (e *Engine) withdrawn(p *place) (out []decant.Decision) {
	if p.branch == nil || p.rel != replaces {
		return nil
	}
	for _, d := range decant.InForce(p.state.Decisions) {
		if policy.PourOf(d.ID) == "" || !slices.Contains(p.branch.Behind, d.ID) {
			continue
		}
		id, _ := e.ids.Next() // without an id the store refuses the commit and says so
		out = append(out, decant.Decision{
			ID: id, Kind: decant.Revoke, Revokes: d.ID, Created: e.opts.Now().UTC(), Reason: "it was made for a request that was not answered and is no more",
		})
	}
	return out
}

// lost returns the decisions that a request was sent with and that are not in force where it is archived:
// another process had taken its tail for given up and replaced it. What was sent stays as it was.
func (a *attempt) lost() (out []decant.Decision) {
	if a.rel == continues || a.rel == returns { // nothing was replaced: what is not in force people have taken back
		return nil
	}
	have := map[string]bool{}
	for _, d := range applicable(a.place, a.Map, a.withdrawn) {
		have[d.ID] = true
	}
	w := witness{conv: a.Conv, unknown: math.MaxInt}
	for _, d := range slices.Concat(a.inForce, a.report.Decisions) {
		if have[d.ID] || !(d.Checkpoint != nil && w.covers(d.Checkpoint) || d.Kind.Edits() && w.confirms(&d.Target)) {
			continue
		}
		if a.state != nil && slices.ContainsFunc(a.state.Decisions, func(o decant.Decision) bool { return o.ID == d.ID }) {
			d.ID += " again" // it was taken back with the tail; ids are unique within a conversation
		}
		out = append(out, a.renumbered(d))
	}
	return out
}

// renumbered returns a decision that was made when the conversation was another. The number of a checkpoint that
// another one has since, or the same one before it was taken back, is replaced; what it says stays.
func (a *attempt) renumbered(d decant.Decision) decant.Decision {
	if d.Checkpoint == nil || a.state == nil {
		return d
	}
	have := a.state.Decisions
	if a.starts() {
		have = a.atBranch()
	}
	if !slices.ContainsFunc(have, func(o decant.Decision) bool { return o.Checkpoint != nil && o.Checkpoint.Number == d.Checkpoint.Number }) {
		return d
	}
	cp := *d.Checkpoint
	cp.Number = a.checkpoints() + 1
	d.Checkpoint, d.Handle = &cp, decant.Handle(fmt.Sprintf("c:%d", cp.Number))
	return d
}

// sentUnder reports whether the request was sent under all of ds.
func (a *attempt) sentUnder(ds []decant.Decision) bool {
	under := map[string]bool{}
	for _, d := range slices.Concat(a.inForce, a.report.Decisions) {
		under[d.ID] = true
	}
	return !slices.ContainsFunc(ds, func(d decant.Decision) bool { return !under[d.ID] })
}

// origin returns where the request's own conversation begins, nil when it shares nothing with another.
func (a *attempt) origin() *store.Origin {
	if a.line == nil || a.base() == 0 {
		return nil
	}
	if a.branch != nil {
		o := a.branch.Origin
		return &o
	}
	return &store.Origin{Parent: a.line.key.ID, Version: a.state.Version, Position: a.base(), InForce: a.state.Version}
}

// onHold reports whether pours have been put off until somebody releases the conversation.
func (a *attempt) onHold() bool {
	if a.rel != forks && a.rel != returns {
		return a.state != nil && a.state.Head.Hold
	}
	return slices.ContainsFunc(a.inForce, func(d decant.Decision) bool { return d.Kind == decant.Hold })
}
