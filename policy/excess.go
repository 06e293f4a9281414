package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/wire"
)

// An Excess is what a view carries beyond the size to which an early pour with a checkpoint brings its messages, in
// tokens. The zero value says that there may be no such pour.
type Excess struct {
	Freed   int // beyond it now
	Left    int // that size: what is written again
	Carried int // Freed, summed over the requests that carried it
}

// leastExcess is the least that a paid pour with a checkpoint frees, as a share of what it leaves, where nothing can be read
// from a cache: there a rewrite costs nothing, and each request would make another record.
const leastExcess = 0.5

// besideFixed is how many tokens of messages more an early checkpoint leaves, for each token of system prompt and tools: the
// more a request costs whatever is said in it, the less it matters what the messages add.
const besideFixed = 0.5

// EarlyTarget returns the tokens that the messages have after an early pour with a checkpoint, 0 where a preset makes none.
func EarlyTarget(p *preset.Preset, l Limits, fixed int) int {
	rule := p.EarlyPours.Settled()
	if !rule.On() {
		return 0
	}
	return min(rule.Target+int(besideFixed*float64(fixed)), l.Target)
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

// Covers reports whether an early pour that is due has a checkpoint: the cache is cold, or carrying what it frees has
// cost as much as it will. Of a cold moment [Proposal.Beats] has the last word.
func (e *Economy) Covers() bool {
	x := &e.Excess
	if e.Cold() || x.Freed <= 0 {
		return e.Cold() && x.Freed > 0
	}
	if e.Read > e.Write/2 && float64(x.Freed) < leastExcess*float64(x.Left) {
		return false
	}
	return float64(x.Carried)*e.Read >= cmp.Or(e.Patience, 1)*float64(x.Left)*(e.Write-e.Read)
}

// Beats reports whether the plan's view costs less than another view of the same conversation, for each fact that it
// holds: an exact string that people or the model wrote, on a line that says what it is. Carried with both are so many
// tokens of system prompt and tools. The plan's checkpoint says so in its reason.
func (p *Proposal) Beats(ctx context.Context, other *decant.Conversation, fixed int) bool {
	m := p.made
	was := m.evidence.recalled(ctx, m.conv.Messages, wire.Text(other))
	if was.Strings == 0 || m.opts.Quick {
		return false
	}
	per := func(size int, score float64) float64 {
		return float64(fixed+size) / max(score*float64(was.Strings), 1)
	}
	with, without := per(p.Plan.After.Messages, p.Plan.Score), per(m.opts.Estimator.Messages(other.Messages)+m.opts.Coming, was.Score)
	p.because(fmt.Sprintf("each of %d facts costs %.0f tokens of a prompt, with outlines %.0f", int(p.Plan.Score*float64(was.Strings)), with, without))
	return with < without && ctx.Err() == nil
}

// because adds to the reason of the plan's checkpoint.
func (p *Proposal) because(why string) {
	plan := *p.Plan
	plan.Decisions = slices.Clone(plan.Decisions)
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; d.Checkpoint != nil {
			d.Reason += "; " + why
		}
	}
	p.Plan = &plan
}
