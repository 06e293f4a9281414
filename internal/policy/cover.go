package policy

import (
	"errors"
	"fmt"

	"github.com/decantdev/decant"
)

// cover replaces the oldest messages by a verified summary, as few of them as the target allows. If the kept
// tail leaves no room and the window demands it, cover reduces the tail step by step. It cuts results, then
// shrinks the tail to the newest round, and at last folds everything into one message.
func (p *planner) cover() error {
	if !p.over() {
		return nil
	}
	if p.opts.Target = p.choice().accepted(); !p.over() {
		return nil
	}
	steps := [...]struct {
		give  func() (bool, error)
		least int // tokens that a summary must have at least
	}{{p.asIs, leastSummary}, {p.trimTail, leastSummary}, {p.lossy, leastSummary}, {p.shortTail, leastSummary / 4}, {p.fold, 1}}
	for _, s := range steps {
		ok, err := s.give()
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !p.over() {
			return nil
		}
		if err = p.checkpoint(s.least); err == nil || !errors.Is(err, errTooSmall) {
			return err
		}
	}
	return p.floor()
}

// asIs keeps the tail as it was planned.
func (p *planner) asIs() (bool, error) {
	return p.bounds.tail > p.bounds.head && p.opts.KeepTurns != 0, nil
}

// shortTail gives up all of the tail but the newest round.
func (p *planner) shortTail() (bool, error) {
	b := p.bounds
	last := b.lastRound()
	if p.opts.KeepTurns == 0 || last <= b.tail && b.tail > b.head {
		return false, nil
	}
	b.tail = max(b.head, last)
	return b.tail > b.head, nil
}

// fold gives up head and tail: everything but the user's unanswered words becomes one message.
func (p *planner) fold() (bool, error) {
	ms := p.conv.Messages
	p.bounds.head = 0
	if p.opts.KeepTurns == 0 || len(ms) > 0 && !ms[len(ms)-1].UserWords() {
		p.bounds.tail = len(ms)
	}
	return p.bounds.tail > 0, nil
}

// choice returns the choice of a checkpoint under the current bounds.
func (p *planner) choice() choice { return choice{&p.opts, p.bounds, p.sizes} }

// checkpoint covers [head, cut) for the first cut that leaves room for an acceptable summary. The extractive
// record is the baseline.
func (p *planner) checkpoint(least int) error {
	head, tail := p.bounds.head, p.bounds.tail
	for from := head + 1; from <= tail; {
		cut, budget := p.choice().cut(from)
		if budget < least {
			return errTooSmall
		}
		passage := p.recorder().passage(p.ctx, head, cut, budget)
		cp, err := p.recorder().checkpoint(p.ctx, passage)
		if err == nil {
			p.passage = passage
			p.commit(cut, cp)
			return nil
		}
		if !errors.Is(err, errTooSmall) {
			return err
		}
		from = max(cut+1, (cut+tail+1)/2)
	}
	return errTooSmall
}

// commit decides on the checkpoint of [head, cut) and drops the other decisions about what it covers.
func (p *planner) commit(cut int, cp *decant.Checkpoint) {
	standing := p.pins.standing
	p.edits.keep(func(d *decant.Decision) bool {
		return d.Target.Message < cp.From || d.Target.Message > cp.To || standing[d.Target.Message]
	})
	for i := p.bounds.head; i < cut; i++ {
		if !standing[p.conv.Messages[i].Number] {
			p.sizes.view[i] = 0
		}
	}
	p.sizes.view[p.bounds.head] += cp.Compressed
	p.decide(decant.Decision{
		Kind: decant.Cover, Reduction: decant.ReductionCheckpoint, Reason: p.reason(),
		Handle: decant.Handle(fmt.Sprintf("c:%d", cp.Number)),
		Before: cp.Original, After: cp.Compressed, Checkpoint: cp,
	})
}
