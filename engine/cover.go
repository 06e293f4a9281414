package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/summary"
	"github.com/decantdev/decant/wire"
)

const (
	summaryShare = 0.15  // tokens of a summary, as a share of what it covers, where the target leaves a choice
	leastSummary = 400   // tokens below which a summary is not worth its range
	mostSummary  = 8_000 // tokens above which a summary is not read
)

// cover replaces the oldest messages by a verified summary, as few of them as the target allows.
// Where the kept tail leaves no room, it gives up the tail step by step: results in it are cut, it
// shrinks to the newest round, and at last everything is folded into one message.
func (p *planner) cover() error {
	steps := []struct {
		give  func() (bool, error)
		least int // tokens that a summary must have at least
	}{{p.asIs, leastSummary}, {p.trimTail, leastSummary}, {p.shortTail, leastSummary / 4}, {p.fold, 1}}
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
	return p.irreducible(p.size())
}

// asIs keeps the tail as it was planned.
func (p *planner) asIs() (bool, error) { return p.tail > p.head && p.KeepTurns != 0, nil }

// shortTail gives up all of the tail but the newest round.
func (p *planner) shortTail() (bool, error) {
	last := p.lastRound()
	if p.KeepTurns == 0 || last <= p.tail && p.tail > p.head {
		return false, nil
	}
	p.tail = max(p.head, last)
	return p.tail > p.head, nil
}

// fold gives up the tail altogether, so that everything becomes one message, unless it is something
// that the user said and nobody has answered.
func (p *planner) fold() (bool, error) {
	ms := p.conv.Messages
	if p.KeepTurns != 0 && (len(ms) == 0 || ms[len(ms)-1].UserWords()) {
		return false, nil
	}
	p.head, p.tail = 0, len(ms)
	return len(ms) > 0, nil
}

// checkpoint covers [head, cut) for the first cut that leaves room for an acceptable summary.
func (p *planner) checkpoint(least int) error {
	for from := p.head + 1; from <= p.tail; {
		cut, budget := p.cut(from)
		if budget < least {
			return errTooSmall
		}
		cp, err := p.summarise(cut, budget)
		if err == nil {
			p.commit(cut, cp)
			return nil
		}
		if !errors.Is(err, errTooSmall) {
			return err
		}
		from = max(cut+1, (cut+p.tail+1)/2)
	}
	return errTooSmall
}

// cut returns the earliest safe cut at or after from such that what follows fits beside a summary of
// what precedes, and the tokens that the summary may have. It is the tail's start when none does.
func (p *planner) cut(from int) (cut, budget int) {
	kept := 0
	for i := range p.head {
		kept += p.sizes[i]
	}
	rest := p.size() - kept
	for i := p.head; i < p.tail; i++ {
		covered := p.covered(i)
		room := p.Target - kept - rest - p.quoted(i)
		if i >= from && p.cutBefore(i) == i && p.splits(i) && covered >= 2*leastSummary && room >= p.summaryWish(covered) {
			return i, p.summaryBudget(covered, room)
		}
		rest -= p.sizes[i]
	}
	return p.tail, p.summaryBudget(p.covered(p.tail), p.Target-kept-rest-p.quoted(p.tail))
}

// splits reports whether the preset lets stubbed messages stay between checkpoint and tail, and the
// number of messages after i is within its limit.
func (p *planner) splits(i int) bool {
	limit := p.Preset.Trigger.Messages
	fixedTail := p.Preset.Keep.Share == 0 && (p.Preset.Keep.Messages > 0 || p.Preset.Keep.Turns > 0)
	folded := p.tail == len(p.conv.Messages)
	return !folded && !fixedTail && (limit == 0 || p.head+1+len(p.sizes)-i <= limit)
}

// covered returns the tokens of the original messages [head, i).
func (p *planner) covered(i int) int { return p.sums[i] - p.sums[p.head] }

// summaryWish returns the tokens that a good summary of so many takes, if it is not to crowd out the
// messages beside it.
func (p *planner) summaryWish(covered int) int {
	return min(max(leastSummary, int(summaryShare*float64(covered))), p.mostSummary(), max(leastSummary, 2*p.Target/5))
}

func (p *planner) mostSummary() int {
	if n := p.Preset.Summary.MaxTokens; n > 0 {
		return n
	}
	return mostSummary
}

// summaryBudget returns the tokens that a summary may have in the given room. Without a tail the
// summary is all there is and takes what it is given.
func (p *planner) summaryBudget(covered, room int) int {
	if p.tail == len(p.conv.Messages) && p.head == 0 {
		return room
	}
	return min(room, max(p.summaryWish(covered), min(room/2, p.mostSummary())))
}

// summarise makes the summary of [head, cut) by the first rung that is accepted.
func (p *planner) summarise(cut, budget int) (*decant.Checkpoint, error) {
	cp := &decant.Checkpoint{
		Number: 1, From: p.conv.Messages[p.head].Number, To: p.conv.Messages[cut-1].Number,
		Messages: cut - p.head, Original: p.covered(cut),
		Placement: decant.Placement(p.Preset.Summary.Placement), Reply: p.Preset.Summary.Reply,
	}
	ms := p.source(cut)
	limits := summary.Limits{Source: cp.Original, Budget: budget - p.frame(), MinScore: p.Preset.Summary.MinScore, Counter: p.est}
	facts := p.lastSaid(cp.From, cp.To)
	extract, err := summary.Extract(ms, summary.Options{Budget: limits.Budget, Counter: p.est})
	s := extract
	if err == nil {
		s, err = summary.Accept(extract.Text, facts, limits)
	}
	if errors.Is(err, decant.ErrSummary) {
		s, err = p.headTail(ms, limits)
	}
	if errors.Is(err, decant.ErrSummary) && extract.Text != "" { // a poor summary is better than none at all
		limits.MinScore = 0
		s, err = summary.Accept(extract.Text, facts, limits)
	}
	switch {
	case errors.Is(err, decant.ErrSummary), errors.Is(err, decant.ErrNothing):
		return nil, errTooSmall
	case err != nil:
		return nil, fmt.Errorf("summarise m%d to m%d: %w", cp.From, cp.To, err)
	}
	if cp.Rung = s.Rung; cp.Rung == "" {
		cp.Rung = decant.RungExtractive
	}
	cp.Facts, cp.Score = s.Facts, s.Score
	pins, refs := p.quote(cut)
	cp.Summary, cp.Pins = p.framed(s.Text+pins), refs
	cp.Compressed = p.est.Count(cp.Summary)
	return cp, nil
}

// headTail is the last rung: the two ends of the text, whatever facts they hold.
func (p *planner) headTail(ms []decant.Message, limits summary.Limits) (summary.Summary, error) {
	f := p.Preset.Summary.Fallback
	if f.Head+f.Tail == 0 {
		return summary.Summary{}, fmt.Errorf("the preset has no fallback: %w", decant.ErrSummary)
	}
	text := secret.Mask(summary.HeadTail(wire.Text(p.conv.With(ms)), f.Head, f.Tail))
	if p.est.Count(text) > limits.Budget {
		return summary.Summary{}, fmt.Errorf("%d tokens are too few for the two ends: %w", limits.Budget, decant.ErrSummary)
	}
	limits.MinScore = 0
	s, err := summary.Accept(text, nil, limits)
	s.Rung = decant.RungHeadTail
	return s, err
}

// lastSaid returns the must-keep facts that were said last in the messages with the given numbers.
func (p *planner) lastSaid(from, to int) []decant.Fact {
	var out []decant.Fact
	for _, f := range p.mustKeep() {
		if f.Message >= from && f.Message <= to {
			out = append(out, f)
		}
	}
	return out
}

// frame returns the tokens that the preset's markers take.
func (p *planner) frame() int {
	s := p.Preset.Summary
	return p.est.Count(s.Begin) + p.est.Count(s.End) + 8
}

// framed puts the preset's markers around a summary.
func (p *planner) framed(text string) string {
	s := p.Preset.Summary
	parts := []string{text}
	if s.Begin != "" {
		parts = []string{s.Begin, text}
	}
	if s.End != "" {
		parts = append(parts, s.End)
	}
	return strings.Join(parts, "\n")
}

// commit decides on the checkpoint; what it covers needs no other decision any more.
func (p *planner) commit(cut int, cp *decant.Checkpoint) {
	p.decisions = slices.DeleteFunc(p.decisions, func(d decant.Decision) bool {
		return d.Target.Message >= cp.From && d.Target.Message <= cp.To
	})
	for i := p.head; i < cut; i++ {
		p.sizes[i] = 0
	}
	p.sizes[p.head] = cp.Compressed
	p.decide(decant.Decision{
		Kind: decant.Cover, Reduction: "checkpoint", Reason: p.reason(), Handle: decant.Handle(fmt.Sprintf("c:%d", cp.Number)),
		Before: cp.Original, After: cp.Compressed, Checkpoint: cp,
	})
}
