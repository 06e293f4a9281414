package policy

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/reduce"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/tool"
	"github.com/decantdev/decant/preset"
)

// An EarlyPour is the input of an early pour: the conversation and the rules.
type EarlyPour struct {
	Preset     *preset.Preset
	Counter    decant.Counter
	Transcript *decant.Conversation // the conversation that the view was made of; nil: the view itself
	Made       []decant.Decision    // decisions behind the view
	Pinned     map[decant.Ref]decant.Hash
	Cold       bool // nothing is cached, so only half as many rounds are kept
	Signed     bool // thinking stays, because it is bound to what is sent
	Native     bool // the provider leaves out old results, all of them from the oldest on, see Clear
	Beyond     int  // blocks at the end of the view that the provider does not keep

	entered map[string]bool // ids of decisions that were made when their blocks came in
	cleared map[string]bool // ids of native decisions
}

// A Removable is the part of a view that an early pour would free. The unit is four encoded bytes, roughly a
// token: only proportions matter.
type Removable struct {
	Freed   int // S
	Behind  int // L: after the first change, what would remain
	Rest    int // of the view, what would remain of what the provider keeps
	Whole   int // of the view
	Carried int // S summed over the requests that carried it: what it has cost so far, divided by the price of a token
	Plain   int // of Carried, what was paid in full each time, for the provider does not keep it

	kept    int  // blocks to come that the provider keeps
	changed bool // the first block that would change has been passed
}

// MeasureEarly returns what an early pour could remove from a view, without making the reductions. It visits
// every block once and does not decode it.
//
// The carried tokens follow from the view alone, so every node computes the same and a crash loses nothing. A
// block can go once it is older than the rounds to keep. Each round since then was one request that carried
// it. A poured block no longer counts.
func MeasureEarly(view *decant.Conversation, t EarlyPour) Removable {
	rule := t.rule()
	if !rule.On() {
		return Removable{}
	}
	rounds := decant.Rounds(view.Messages)
	t.entered, t.cleared = atFirstSight(t.Made), clearedBy(t.Made)
	b := Removable{kept: blocksOf(view.Messages) - t.Beyond}
	if len(rounds) > 0 {
		b.stand(view.Messages[:rounds[0].Start])
	}
	for r := range rounds {
		past := len(rounds) - rule.Keep - r // requests that carried this round since it could go
		for i := rounds[r].Start; i < rounds[r].End; i++ {
			b.add(&view.Messages[i], past, r == len(rounds)-1, t, rule)
		}
		if r+1 < len(rounds) {
			b.stand(view.Messages[rounds[r].End:rounds[r+1].Start])
		} else {
			b.stand(view.Messages[rounds[r].End:])
		}
	}
	b.kept, b.changed = 0, false
	return b
}

// Weigh returns e with the amounts of b, in a request whose fixed part has the given tokens. Blocks that the
// provider does not keep cost the price plain. Without Decant's marker before the change, the provider finds
// none of the messages in its cache.
func (e Economy) Weigh(b Removable, fixed int, plain float64, marker bool) Economy {
	e.Freed, e.Behind, e.Whole = b.Freed, b.Behind, fixed+b.Whole
	e.Spent = float64(b.Carried-b.Plain)*e.Read + float64(b.Plain)*plain
	if !marker {
		e.Behind = b.Rest
	}
	return e
}

// rule returns the limits that apply.
func (t EarlyPour) rule() preset.EarlyPours {
	rule := t.Preset.EarlyPours.Settled()
	if t.Cold {
		rule.Keep = max(1, rule.Keep/2)
	}
	rule.Keep = max(rule.Keep, t.Preset.Reduce.Protect)
	return rule
}

// stand counts messages between rounds, which early pours do not change.
func (b *Removable) stand(ms []decant.Message) {
	for i := range ms {
		for k := range ms[i].Blocks {
			n := weight(&ms[i].Blocks[k])
			b.count(n, 0, 0)
		}
	}
}

// count counts a block of n tokens, free of which would go after the given number of requests carried them.
func (b *Removable) count(n, free, requests int) {
	carried := free * requests
	b.Whole += n
	b.Freed += free
	b.Carried += carried
	if b.kept--; b.kept < 0 {
		b.Plain += carried
		return
	}
	b.Rest += n - free
	if b.Freed > 0 || b.changed {
		b.Behind += n - free
	}
}

func blocksOf(ms []decant.Message) (n int) {
	for i := range ms {
		n += len(ms[i].Blocks)
	}
	return n
}

// add counts one message of a round.
func (b *Removable) add(m *decant.Message, past int, last bool, t EarlyPour, rule preset.EarlyPours) {
	for k := range m.Blocks {
		block := &m.Blocks[k]
		n := weight(block)
		switch {
		case block.Kind == decant.KindThinking && !last && !t.Signed:
			b.count(n, n, past+rule.Keep-1) // it can go from the next round on
		case past > 0:
			b.changed = b.changed || t.Native && block.Kind == decant.KindResult && !t.cleared[block.Changed]
			b.count(n, t.free(block, n, rule), past)
		default:
			b.count(n, 0, 0)
		}
	}
}

// weight returns about how many tokens a block takes, without decoding it.
func weight(b *decant.Block) int {
	if b.Content == nil {
		return 1600 * b.Media.Count
	}
	return b.Content.Size() / 4
}

// free returns about how many of the n tokens of an old block go.
func (t EarlyPour) free(b *decant.Block, n int, rule preset.EarlyPours) int {
	const longArguments = 250
	switch {
	case n < rule.Least || b.Content == nil || b.Media.Count > 0 || b.Loads > 0 || t.untouchable(b.Ref):
	case b.Kind == decant.KindUse && b.Changed == "" && n > longArguments && writes(b.Name):
		return n * 3 / 5
	case b.Kind == decant.KindResult && t.whole(b):
		return max(0, n-quoting(rule).Left(n))
	}
	return 0
}

func writes(name string) bool {
	c := tool.ClassOf(name)
	return c == tool.Write || c == tool.Edit
}

// whole reports whether a result has had no reduction except at first sight.
func (t EarlyPour) whole(b *decant.Block) bool { return b.Changed == "" || t.entered[b.Changed] }

// atFirstSight returns the ids of the decisions that were made when their blocks arrived.
func atFirstSight(ds []decant.Decision) map[string]bool {
	out := map[string]bool{}
	for i := range ds {
		if d := &ds[i]; d.Reduction == decant.ReductionFirstSight || d.Reduction == decant.ReductionTerminal {
			out[d.ID] = true
		}
	}
	return out
}

// clearedBy returns the ids of the decisions that the provider carries out.
func clearedBy(ds []decant.Decision) map[string]bool {
	out := map[string]bool{}
	for i := range ds {
		if ds[i].Kind == decant.Native {
			out[ds[i].ID] = true
		}
	}
	return out
}

func (t EarlyPour) untouchable(ref decant.Ref) bool {
	_, pinned := t.Pinned[ref]
	return pinned
}

func quoting(rule preset.EarlyPours) reduce.Quoting {
	return reduce.Quoting{Share: rule.Quote, Most: rule.QuoteMost, Names: rule.Names}
}

// PlanEarly returns the decisions of an early pour for everything older than the rounds to keep. Reads with a
// newer copy become a line, old results an outline, and long arguments of writes a note. Thinking is removed.
// It is a pure function of the view.
func PlanEarly(ctx context.Context, view *decant.Conversation, t EarlyPour) []decant.Decision {
	rule := t.rule()
	if !rule.On() {
		return nil
	}
	tools := t.Preset.Tools
	t.Pinned = pinInstructions(t.Pinned, instructions(ctx, t.transcript(view), t.Counter, mostInstructions))
	s := reduce.Of(ctx, view, reduce.Options{
		Counter: t.Counter, Mask: secret.Mask, Transcript: t.transcript(view), Made: t.Made, KeepRounds: rule.Keep,
		Include: tools.Include, Exclude: tools.Exclude, Pinned: tools.Pin, Quote: quoting(rule),
		Must: namesOf(fact.Extract(ctx, t.transcript(view).Messages)),
	})
	var out thinned
	for _, name := range t.Preset.Reduce.Order {
		for _, d := range thinnings(s, name, view) {
			if t.untouchable(d.Target.Ref) || t.Signed && d.Kind == decant.DropThinking {
				continue
			}
			if d.Kind == decant.DropThinking || d.Before >= rule.Least {
				out.take(d)
			}
		}
	}
	if t.Cold { // everything is written again anyway
		return out.ds
	}
	t.entered = atFirstSight(t.Made)
	return t.unsettled(view, out.ds)
}

// again is the minimum share that a change must free of the text between it and the end of the previous pour.
// At usual prices, rewriting that text then breaks even after 60 requests.
const again = 0.2

// unsettled returns ds without the decisions before the end of the previous pour, unless they are worth
// rewriting that part of the provider's cache.
func (t EarlyPour) unsettled(view *decant.Conversation, ds []decant.Decision) []decant.Decision {
	end := t.settled(view)
	first, freed := end, 0
	for i := range ds {
		if d := &ds[i]; !d.Target.Ref.After(end) {
			freed += d.Before - d.After
			if first.After(d.Target.Ref) {
				first = d.Target.Ref
			}
		}
	}
	if freed == 0 || float64(freed) >= again*float64(between(view, first, end)-freed) {
		return ds
	}
	return slices.DeleteFunc(ds, func(d decant.Decision) bool { return !d.Target.Ref.After(end) })
}

// settled returns the last block that was changed after its arrival, or zero.
func (t EarlyPour) settled(view *decant.Conversation) (out decant.Ref) {
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			if b := &view.Messages[i].Blocks[k]; b.Ref.Message > 0 && !t.whole(b) {
				out = b.Ref
			}
		}
	}
	return out
}

// between estimates the tokens from one block to another, both included.
func between(view *decant.Conversation, from, to decant.Ref) (n int) {
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			if b := &view.Messages[i].Blocks[k]; b.Ref.Message > 0 && !from.After(b.Ref) && !b.Ref.After(to) {
				n += weight(b)
			}
		}
	}
	return n
}

// transcript returns the conversation behind the view.
func (t EarlyPour) transcript(view *decant.Conversation) *decant.Conversation {
	if t.Transcript != nil {
		return t.Transcript
	}
	return view
}

// thinnings returns the proposals of one reduction for an early pour. Reductions that cut by size or clear
// are left to pours that the window demands.
func thinnings(s *reduce.Subject, name decant.Reduction, view *decant.Conversation) []decant.Decision {
	if f := unset[name]; f != nil {
		return f(s)
	}
	if through := beforeLast(view); name == decant.ReductionThinking && through > 0 {
		return reduce.Thinking(s, reduce.Thoughts{KeepTurns: -1, Through: through})
	}
	return nil
}

// beforeLast returns the number of the last message before the newest round, or 0.
func beforeLast(view *decant.Conversation) int {
	rounds := decant.Rounds(view.Messages)
	if len(rounds) == 0 {
		return 0
	}
	for i := rounds[len(rounds)-1].Start - 1; i >= 0; i-- {
		if n := view.Messages[i].Number; n > 0 {
			return n
		}
	}
	return 0
}

// thinned has one decision for each block: the one that leaves less.
type thinned struct {
	ds []decant.Decision
	at map[decant.Ref]int
}

func (t *thinned) take(d decant.Decision) {
	if t.at == nil {
		t.at = map[decant.Ref]int{}
	}
	i, ok := t.at[d.Target.Ref]
	switch {
	case !ok:
		t.at[d.Target.Ref] = len(t.ds)
		t.ds = append(t.ds, d)
	case d.After < t.ds[i].After:
		t.ds[i] = d
	}
}
