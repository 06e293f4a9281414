package engine

import (
	"context"
	"fmt"

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
func (f *finder) judge(ctx context.Context, p *place, r *prompt.Prompt, known int) error {
	if p.rel == replaces || p.rel == amends && p.rest.entry < len(p.state.Chain) {
		if err := f.judgeTail(ctx, p, r, known); err != nil {
			return err
		}
	}
	if p.rel != forks && p.rel != returns && p.rel != replaces || len(p.state.Decisions) == 0 {
		return nil
	}
	seen, _ := r.Overlap(p.state)
	var err error
	if p.branch, err = f.store.Branch(ctx, p.state.Key, p.state.Version, p.leaves(), seen); err != nil {
		return fmt.Errorf("find what was in force at block %d of %s: %w", p.leaves(), p.state.ID, err)
	}
	return nil
}

// judgeTail decides about a request that has not all of the conversation's tail. What was not answered
// it replaces. What was answered it amends, if it goes on with that answer; else it is a branch.
func (f *finder) judgeTail(ctx context.Context, p *place, r *prompt.Prompt, known int) error {
	p.asked = true
	first := p.kept // entry that the request lacks
	if p.rel == amends {
		first = p.rest.entry
	}
	t, err := f.tailOf(ctx, p.state)
	if err != nil || !t.settled(first) && !f.underWay(p.state, first) {
		return err
	}
	if p.rel == amends || p.amend(r, spineOf(p.state), known) {
		goesOn, err := t.goesOn(ctx, f.store, p, r, first)
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
