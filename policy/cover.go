package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/wire"
)

const (
	summaryShare = 0.3    // tokens of a summary, as a share of what it covers, where the target leaves a choice
	leastSummary = 400    // tokens below which a summary is not worth its range
	mostSummary  = 16_000 // tokens above which a summary is not read
	fewStrings   = 10     // in a range; by fewer no record is judged
	summaryRoom  = 0.8    // of the target, that a summary may take at most where messages follow it
)

// cover replaces the oldest messages by a verified summary, as few of them as the target allows.
// Where the kept tail leaves no room and the window demands it, it gives up the tail step by step: results
// in it are cut, it shrinks to the newest round, and at last everything is folded into one message.
func (p *planner) cover() error {
	if !p.over() {
		return nil
	}
	if p.accept(); !p.over() {
		return nil
	}
	steps := []struct {
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

// accept raises the target to what the kept tail needs beside a summary of the rest. That leaves as much room
// again for what comes next, below the trigger or, where the tail is above it, below the limit: otherwise the
// next request would have to be poured as well.
func (p *planner) accept() {
	if p.KeepTurns == 0 {
		return
	}
	tail := 0
	for i, n := range p.sizes {
		if i < p.head || i >= p.tail {
			tail += n
		}
	}
	for _, most := range [...]int{min(p.Trigger, p.Limit), p.Limit} {
		if record := min(p.summaryWish(p.covered(p.tail)), (most-tail)/2); record >= leastSummary {
			p.Target = max(p.Target, tail+record)
			return
		}
	}
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

// fold gives up head and tail altogether, so that everything becomes one message, but not what the user
// said and nobody has answered.
func (p *planner) fold() (bool, error) {
	ms := p.conv.Messages
	p.head = 0
	if p.KeepTurns == 0 || len(ms) > 0 && !ms[len(ms)-1].UserWords() {
		p.tail = len(ms)
	}
	return p.tail > 0, nil
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
			if p.Trigger > 0 {
				room = min(room, max(p.summaryWish(covered), min(room/2, p.mostSummary())))
			}
			return i, min(room, max(p.summaryWish(covered), p.allOf(i)))
		}
		rest -= p.sizes[i]
	}
	return p.tail, min(p.Target-kept-rest-p.quoted(p.tail), p.allOf(p.tail))
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
	return min(max(leastSummary, int(summaryShare*float64(covered))), p.mostSummary(), max(leastSummary, int(summaryRoom*float64(p.Target))))
}

func (p *planner) mostSummary() int {
	if n := p.Preset.Summary.MaxTokens; n > 0 {
		return n
	}
	return mostSummary
}

// allOf returns the tokens that a summary of [head, cut) may have where no message competes for the room.
// Without a tail the summary is all there is, and has no limit; where nobody pours again by itself, half
// of what it covers is no waste of a room that was asked for.
func (p *planner) allOf(cut int) int {
	most := p.mostSummary()
	switch {
	case cut == len(p.conv.Messages) && p.head == 0:
		return p.Target
	case p.Trigger == 0 && p.Preset.Summary.MaxTokens == 0:
		return max(most, p.covered(cut)/2)
	}
	return most
}

// summarise makes the summary of [head, cut) by the first rung that is accepted.
func (p *planner) summarise(cut, budget int) (*decant.Checkpoint, error) {
	all := p.conv.Messages[p.head:cut]
	covered, kept := apart(all, p.loading)
	cp := &decant.Checkpoint{
		Number: 1, From: all[0].Number, To: all[len(all)-1].Number,
		Messages: len(covered), Original: p.est.Messages(covered), Kept: kept,
		Placement: decant.Placement(p.Preset.Summary.Placement), Reply: p.Preset.Summary.Reply,
	}
	images := 0
	cp.Carried, images = p.carry(cut, budget/2)
	ms := p.source(cut)
	limits := summary.Limits{Source: cp.Original, Budget: budget - p.frame() - images, Counter: p.est}
	s, err := p.extract(ms, cp, limits)
	if errors.Is(err, decant.ErrSummary) {
		s, err = p.headTail(ms, limits)
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
	pins, refs := p.quote(cut)
	cp.Facts, cp.Pins = s.Facts, refs
	cp.Summary = summary.Seal(p.framed(strings.TrimSpace(s.Text)+pins), p.Key)
	cp.Compressed = p.est.Count(cp.Summary) + images
	said := p.recalled(covered, cp.Summary)
	cp.Score, cp.Poor = said.Score, p.Quick || said.Strings >= fewStrings && said.Score < p.Preset.Summary.MinScore
	return cp, nil
}

// extract is the rung before the last: what the messages say, within limits.
func (p *planner) extract(ms []decant.Message, cp *decant.Checkpoint, limits summary.Limits) (summary.Summary, error) {
	if p.Quick {
		return summary.Summary{}, fmt.Errorf("there is no time: %w", decant.ErrSummary)
	}
	s, err := summary.Extract(p.ctx, ms, summary.Options{
		Budget: limits.Budget - int(summary.IndexShare*float64(limits.Budget)), Counter: p.est, NoResults: p.Preset.Summary.Quotes == "none",
	})
	if err != nil {
		return s, err
	}
	return summary.Accept(p.ctx, s.Text, p.lastSaid(cp.From, cp.To), limits)
}

// carry returns the images that a checkpoint of [head, cut) takes along, and their tokens: those of pins, and
// those of the newest round where nothing stays verbatim.
func (p *planner) carry(cut, room int) ([]decant.Ref, int) {
	covered, _ := apart(p.conv.Messages[p.head:cut], p.loading)
	var newest map[int]bool
	if cut == len(p.conv.Messages) {
		newest = newestOf(p.conv.Messages)
	}
	return pictures(covered, newest, p.Pinned, p.est, room)
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
	s, err := summary.Accept(p.ctx, text, nil, limits)
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

// frame returns the tokens that the preset's markers take, and the answer that it may put in.
func (p *planner) frame() int {
	const joints = 8 // line ends, and what a message takes beside its text
	const seal = 12  // of the record
	s := p.Preset.Summary
	n := p.est.Count(s.Begin) + p.est.Count(s.End) + joints + seal
	if s.Reply != "" {
		n += p.est.Count(s.Reply) + joints
	}
	return n
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
	p.keep(func(d *decant.Decision) bool {
		return d.Target.Message < cp.From || d.Target.Message > cp.To || p.loading[d.Target.Message]
	})
	for i := p.head; i < cut; i++ {
		if !p.loading[p.conv.Messages[i].Number] {
			p.sizes[i] = 0
		}
	}
	p.sizes[p.head] += cp.Compressed
	p.decide(decant.Decision{
		Kind: decant.Cover, Reduction: decant.ReductionCheckpoint, Reason: p.reason(), Handle: decant.Handle(fmt.Sprintf("c:%d", cp.Number)),
		Before: cp.Original, After: cp.Compressed, Checkpoint: cp,
	})
}
