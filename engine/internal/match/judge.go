package match

import (
	"context"
	"fmt"
)

// A conversation ends in a tail: what came after the last message of the assistant. A retry, an abort or
// an edited prompt may replace it, unless it was answered: then it is a branch, and a request that has
// something else in its place goes another way. That one leaves with what was in
// force where it leaves, so that nobody's view changes by what one of several delegates decides.

// judge settles what the blocks of a request leave open: whether what it lacks at the end of the
// conversation was answered, and what is in force where it leaves it. known is the number of its first
// blocks that it has in common with the conversation.
func (f *Finder) judge(ctx context.Context, p *Match, r *Prompt, known int) error {
	if p.Asked = p.open(); p.Asked {
		if err := f.judgeTail(ctx, p, r, known); err != nil {
			return err
		}
	}
	if p.Relation != Forks && p.Relation != Returns && p.Relation != Replaces || len(p.State.Decisions) == 0 {
		return nil
	}
	seen, _ := r.Overlap(p.State)
	var err error
	if p.Branch, err = f.Store.Branch(ctx, p.State.Key, p.State.Version, p.Leaves(), seen); err != nil {
		return fmt.Errorf("find what was in force at block %d of %s: %w", p.Leaves(), p.State.ID, err)
	}
	return nil
}

// judgeTail decides about a request that has not all of the conversation's tail. What was not answered
// it replaces. What was answered it amends, if it goes on with that answer; else it is a branch.
func (f *Finder) judgeTail(ctx context.Context, p *Match, r *Prompt, known int) error {
	first := p.Kept // entry that the request lacks
	if p.Relation == Amends {
		first = p.rest.entry
	}
	t, err := f.TailOf(ctx, p.State)
	if err != nil || !t.Settled(first) && !f.UnderWay(p.State, first) {
		return err
	}
	if p.Relation == Amends || p.amend(r, SpineOf(p.State), known) {
		goesOn, err := t.goesOn(ctx, f.Store, p, r, first)
		if err != nil {
			return err
		}
		if goesOn {
			p.Relation = Amends
			return nil
		}
	}
	p.fork(known)
	return nil
}
