package policy

import (
	"cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
)

// An Excess is what a view carries beyond the size to which an early pour with a checkpoint brings its messages, in
// tokens. The zero value says that there may be no such pour.
type Excess struct {
	Freed   int // beyond it now
	Left    int // that size: what is written again
	Carried int // Freed, summed over the requests that carried it
}

// leastExcess is the least that a paid pour with a checkpoint frees, as a share of what it leaves, where
// nothing can be read from a cache: there a rewrite costs nothing, and each request would make another
// record.
const leastExcess = 0.5

// besideFixed is how many tokens of messages more an early checkpoint leaves, for each token of system prompt
// and tools: the more a request costs whatever is said in it, the less it matters what the messages add.
const besideFixed = 1. / 3

// besideCovered is how many tokens more it leaves for each token that the checkpoint before it covers: the longer a
// conversation, the more of what is next stands behind the record, and the less a larger one adds to what it has cost.
const besideCovered = 1. / 32

// EarlyTarget returns the tokens that the messages have after an early pour with a checkpoint, 0 where a
// preset makes none. before is the checkpoint in force, nil where there is none. One that says of which tools
// results may be changed makes none: a checkpoint covers whatever is old.
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

// MeasureExcess returns what a view, whose messages have so many tokens as metered, has beyond a target. It decodes
// nothing. What was carried follows from the view alone: each round was one request, which carried what stands before
// it. Of what a pour left, nothing is beyond the target, so it does not count, whenever the pour was.
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

// cached reports whether what was written is cheaper to read than to write again.
func (e *Economy) cached() bool { return e.Read <= e.Write/2 }

// Covers reports whether an early pour that is due has a checkpoint: the cache is cold, or carrying what it frees has
// cost as much as it will. Of a cold moment [Proposal.Beats] has the last word.
func (e *Economy) Covers() bool {
	x := &e.Excess
	if e.Cold() || x.Freed <= 0 {
		return e.Cold() && x.Freed > 0
	}
	if !e.cached() && float64(x.Freed) < leastExcess*float64(x.Left) {
		return false
	}
	return float64(x.Carried)*e.Read >= cmp.Or(e.Patience, 1)*float64(x.Left)*(e.Write-e.Read)
}
