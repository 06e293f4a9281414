package investigate

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage/code"
)

// An Effect is what a layer has kept out of the prompts of an investigation, negative where it has brought something in, under the assumption that the model
// would have asked the same without it.
type Effect struct {
	Tokens int `json:"tokens"` // over all prompts: what stays away counts in each that it would have been in
	New    int `json:"new"`    // the same, each time only what would not have been in the prompt before
}

// Effects are those of the layers that change what a prompt holds.
type Effects struct {
	Caps       Effect `json:"caps"`
	Editing    Effect `json:"editing"`
	Compaction Effect `json:"compaction"`
	CrossError Effect `json:"cross_error"`
	Prior      Effect `json:"prior"`
}

// Of returns the effect of a layer; false: it changes no prompt, or what it does to them cannot be told from the prompts that there were.
func (e *Effects) Of(l Layer) (Effect, bool) {
	switch l {
	case LayerCaps:
		return e.Caps, true
	case LayerEditing:
		return e.Editing, true
	case LayerCompaction:
		return e.Compaction, true
	case LayerCrossError:
		return e.CrossError, true
	case LayerPrior:
		return e.Prior, true
	}
	return Effect{}, false
}

// plus returns the sum of two effects.
func (e Effect) plus(o Effect) Effect { return Effect{e.Tokens + o.Tokens, e.New + o.New} }

// Plus returns the sums of effects.
func (e Effects) Plus(o Effects) Effects {
	return Effects{e.Caps.plus(o.Caps), e.Editing.plus(o.Editing), e.Compaction.plus(o.Compaction), e.CrossError.plus(o.CrossError), e.Prior.plus(o.Prior)}
}

// A tally follows an investigation and sums up effects.
type tally struct {
	out            Effects
	last           [5]int // tokens that each layer kept out of the newest prompt
	earlier, prior int    // characters that these layers have brought in
}

// heard counts an event, as work and as effects.
func (t *tally) heard(e *agent.Event, work *Work, seen *code.Seen) {
	if work.heard(e); e.Kind == agent.EventMessage {
		_, cut := seen.Cut()
		t.prompt(cut, work.Cleared, work.Summarised)
	}
}

// characters is how many characters a token is counted for.
const characters = 4

// prompt notes that a prompt was answered from which layers have kept so much: the characters that caps have cut, and tokens.
func (t *tally) prompt(cut, cleared, summarised int) {
	now := [5]int{cut / characters, cleared, summarised, -t.earlier / characters, -t.prior / characters}
	for i, e := range []*Effect{&t.out.Caps, &t.out.Editing, &t.out.Compaction, &t.out.CrossError, &t.out.Prior} {
		*e = e.plus(Effect{now[i], now[i] - t.last[i]})
	}
	t.last = now
}

// Billed is what prompts cost, in tokens of a fresh one: those that are read from the provider's cache, or written to it, count as what they cost.
func Billed(u decant.Usage) float64 {
	return float64(u.Input) + readCost*float64(u.CacheRead) + writeCost*float64(u.CacheWrite-u.Write1h) + longCost*float64(u.Write1h)
}

// What a token of a prompt costs next to a fresh one, where the provider has a cache with prices.
const (
	readCost  = 0.1
	writeCost = 1.25 // for five minutes
	longCost  = 2    // for an hour
)

// Billed returns what prompts with the tokens of an effect beside them would have cost more, with the provider's cache or without it.
func (e Effect) Billed(cached bool) float64 {
	if !cached {
		return float64(e.Tokens)
	}
	return writeCost*float64(e.New) + readCost*float64(e.Tokens-e.New)
}
