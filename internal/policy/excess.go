package policy

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
)

// An Excess is the part of a view, in tokens, that an early pour with a checkpoint would free. The zero value
// means that such a pour is not allowed.
type Excess struct {
	Freed   int // beyond it now
	Left    int // that size: what is written again
	Carried int // Freed, summed over the requests that carried it
}

// leastExcess is the minimum that a paid pour with a checkpoint frees, as a share of what it leaves, if
// nothing is read from a cache. A rewrite costs nothing then, so without this limit each request would make a
// new record.
const leastExcess = 0.5

// besideFixed is the additional tokens of messages that an early checkpoint leaves, for each token of system
// prompt and tools: the larger the fixed cost of a request, the less the messages matter.
const besideFixed = 1. / 3

// besideCovered is the additional tokens that it leaves for each token that the previous checkpoint covers:
// in a longer conversation a larger record adds less to the total cost.
const besideCovered = 1. / 32

// EarlyTarget returns the tokens that the messages have after an early pour with a checkpoint, or 0 if the
// preset does not allow one. before is the checkpoint in force, or nil. A preset that limits the tools whose
// results may change allows none, because a checkpoint covers everything old.
func EarlyTarget(p *preset.Preset, l Limits, fixed int, before *decant.Checkpoint) int {
	rule := p.EarlyPours.Settled()
	if !rule.On() || len(p.Tools.Include)+len(p.Tools.Exclude) > 0 {
		return 0
	}
	more := besideFixed * float64(fixed)
	if before != nil {
		more += besideCovered * float64(before.Original)
	}
	return min(rule.Target+int(more), l.Target)
}

// MeasureExcess returns the excess of a view over a target, given the metered size of its messages. It
// decodes nothing. The carried tokens follow from the view alone: each round was one request that carried
// everything before it. What a pour left is within the target and does not count.
func MeasureExcess(view *decant.Conversation, tokens, target int) Excess {
	out := Excess{Left: max(0, target)}
	if target <= 0 || tokens <= target {
		return out
	}
	sizes, whole := make([]int, len(view.Messages)), 0
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			sizes[i] += weight(&view.Messages[i].Blocks[k])
		}
		whole += sizes[i]
	}
	at, before := 0, 0
	for _, r := range decant.Rounds(view.Messages) {
		for ; at < r.Start; at++ {
			before += sizes[at]
		}
		out.Carried += max(0, int(float64(before)/float64(whole)*float64(tokens))-target)
	}
	out.Freed = tokens - target
	return out
}

// cached reports whether reading from the cache is cheaper than writing again.
func (e *Economy) cached() bool { return e.Read <= e.Write/2 }

// Covers reports whether an early pour that is due has a checkpoint: the cache is cold, or carrying the
// excess has cost as much as the checkpoint will. With a cold cache, [Proposal.Beats] decides.
func (e *Economy) Covers() bool {
	x := &e.Excess
	if e.Cold() || x.Freed <= 0 {
		return e.Cold() && x.Freed > 0 && float64(x.Freed)*e.Write >= e.Rethink
	}
	if !e.cached() && float64(x.Freed) < leastExcess*float64(x.Left) {
		return false
	}
	return float64(x.Carried)*e.Read >= e.worth(x.Left)
}
