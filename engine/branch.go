package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/store"
)

// A conversation ends in a tail: what came after the last message of the assistant. A retry, an abort or
// an edited prompt may replace it, unless it was answered: then it is a branch, and a request that has
// something else in its place goes another way. That one leaves with what was in
// force where it leaves, so that nobody's view changes by what one of several delegates decides.

// judge settles what the blocks of a request leave open: whether what it lacks at the end of the
// conversation was answered, and what is in force where it leaves it. known is the number of its first
// blocks that it has in common with the conversation.
func (e *Engine) judge(ctx context.Context, p *place, r *prompt.Prompt, known int) error {
	if p.rel == replaces || p.rel == amends && p.rest.entry < len(p.state.Chain) {
		if err := e.judgeTail(ctx, p, r, known); err != nil {
			return err
		}
	}
	if p.rel != forks && p.rel != returns && p.rel != replaces || len(p.state.Decisions) == 0 {
		return nil
	}
	seen, _ := r.Overlap(p.state)
	var err error
	if p.branch, err = e.store.Branch(ctx, p.state.Key, p.state.Version, p.leaves(), seen); err != nil {
		return fmt.Errorf("find what was in force at block %d of %s: %w", p.leaves(), p.state.ID, err)
	}
	return nil
}

// judgeTail decides about a request that has not all of the conversation's tail. What was not answered
// it replaces. What was answered it amends, if it goes on with that answer; else it is a branch.
func (e *Engine) judgeTail(ctx context.Context, p *place, r *prompt.Prompt, known int) error {
	p.asked = true
	first := p.kept // entry that the request lacks
	if p.rel == amends {
		first = p.rest.entry
	}
	t, err := e.tailOf(ctx, p.state)
	if err != nil || !t.settled(first) && !e.flights.hold(p.state, first, e.opts.Now()) {
		return err
	}
	if p.rel == amends || p.amend(r, spineOf(p.state), known) {
		goesOn, err := t.goesOn(ctx, e.store, p, r, first)
		if err != nil {
			return err
		}
		if goesOn {
			p.rel = amends
			return nil
		}
	}
	p.fork(known)
	return nil
}

// fork makes p the place of a request that leaves the line behind its first known blocks.
func (p *place) fork(known int) {
	p.rel, p.kept = forks, 0
	if known > 0 {
		p.kept = p.to[known-1] + 1
	}
	for i := known; i < len(p.to); i++ {
		p.to[i] = -1
	}
}

// atBranch returns the decisions that are in force where a request leaves its line.
func (p *place) atBranch() []decant.Decision {
	if p.branch != nil {
		return p.branch.Decisions
	}
	return store.Inherit(p.state.Decisions, p.state.Chain, p.leaves())
}

// leaves returns how many entries of its line a request has before it leaves it.
func (p *place) leaves() int {
	if p.rel == returns {
		return p.shared()
	}
	return p.kept
}

// arrived returns the decisions about blocks that the request has in common with its line and that came
// in after the version whose decisions are in force: those that were made as the blocks came in, which
// depend on nothing else. A fork makes them its own.
func (p *place) arrived() (out []decant.Decision) {
	if p.branch == nil || p.rel == replaces || p.branch.Length >= p.branch.Position {
		return nil
	}
	came := map[decant.Ref]bool{}
	for i := range p.state.Chain[p.branch.Length:p.branch.Position] {
		came[p.state.Chain[p.branch.Length+i].Ref] = true
	}
	for i := range p.state.Decisions {
		d := &p.state.Decisions[i]
		if policy.PourOf(d.ID) == "" && (d.Kind == decant.Shrink || d.Kind == decant.Stub) && came[d.Target.Ref] {
			out = append(out, *d)
		}
	}
	return out
}

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
