package plan

import (
	"context"
	"math"
	"slices"

	"github.com/decantdev/decant"
)

// A recaller tells the model of earlier conversations.
type recaller struct{ *attempt }

// recall tells the model of earlier conversations: behind the first words of one that begins, and behind the newest
// ones where what it was told has left the view since.
func (a *attempt) recall(ctx context.Context) error {
	in := a.dr.Input
	if in.Recall == nil {
		return nil
	}
	if in.Match.State != nil {
		return recaller{a}.again(ctx, math.MaxInt)
	}
	ms := in.Conv.Messages
	speaks := func(m decant.Message) bool { return m.Role == decant.RoleAssistant }
	first := slices.IndexFunc(ms, func(m decant.Message) bool { return m.Role == decant.RoleUser })
	if first < 0 || len(ms[first].Blocks) == 0 || slices.ContainsFunc(ms, speaks) {
		return nil // it has begun without us
	}
	return recaller{a}.tell(ctx, &ms[first], math.MaxInt)
}

// again tells the model once more, in at most most tokens and as it is known now, when a checkpoint covers what it was
// told. The bytes come with what is new in the request, so that nothing of the provider's cache is lost.
func (a recaller) again(ctx context.Context, most int) error {
	dr := a.dr
	all := slices.Concat(dr.InForce, dr.Made)
	if dr.Recall == nil || dr.Match.Repeats() || !forgotten(all) {
		return nil
	}
	ms := dr.Conv.Messages
	last := &ms[len(ms)-1]
	n := len(last.Blocks)
	if last.Role != decant.RoleUser || n == 0 || !a.news()(last.Blocks[n-1].Ref) || decant.CheckpointIn(all).Covers(last.Number) || decant.AwaitsServer(ms) {
		return nil
	}
	return a.tell(ctx, last, most)
}

// forgotten reports whether the model was told of earlier conversations, and a checkpoint covers all of that.
func forgotten(ds []decant.Decision) bool {
	cover, told := decant.CheckpointIn(ds), false
	for _, d := range decant.InForce(ds) {
		if d.Kind != decant.Insert || d.Reduction != decant.ReductionRecall {
			continue
		}
		if told = true; !cover.Covers(d.Target.Message) {
			return false
		}
	}
	return told
}

// tell tells the model of earlier conversations at the end of a message, unless that takes more than most tokens. A
// store that is slow or fails costs a conversation what it would have been told, and nothing else.
func (a recaller) tell(ctx context.Context, m *decant.Message, most int) error {
	dr := a.dr
	ctx, cancel := a.by.Deadlines.Optional(ctx)
	defer cancel()
	text, err := dr.Recall(ctx, dr.Estimator)
	if err != nil || text == "" {
		return nil
	}
	n := dr.Estimator.Count(text)
	if n > most {
		return nil
	}
	dr.Outcome.After += n
	return dr.Add([]decant.Decision{{
		Kind: decant.Insert, Reduction: decant.ReductionRecall, Target: decant.TargetOf(&m.Blocks[len(m.Blocks)-1]), Text: text,
		After: n, Reason: "what is remembered of the project",
	}})
}
