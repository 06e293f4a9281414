package decide

import (
	"context"
	"slices"

	"github.com/decantdev/decant"
)

// recall tells the model of earlier conversations, behind the first words of one that begins. A store that is slow or
// fails costs a conversation what it would have been told, and nothing else.
func (a *attempt) recall(ctx context.Context) error {
	q := a.dr.Query
	if q.Request.Recall == nil || q.Match.State != nil {
		return nil
	}
	ms := q.Refs.Conv.Messages
	speaks := func(m decant.Message) bool { return m.Role == decant.RoleAssistant }
	first := slices.IndexFunc(ms, func(m decant.Message) bool { return m.Role == decant.RoleUser })
	if first < 0 || len(ms[first].Blocks) == 0 || slices.ContainsFunc(ms, speaks) {
		return nil // it has begun without us
	}
	ctx, cancel := a.by.Patience.Optional(ctx)
	defer cancel()
	text, err := q.Request.Recall(ctx, q.Estimator)
	if err != nil || text == "" {
		return nil
	}
	at := &ms[first].Blocks[len(ms[first].Blocks)-1]
	return a.dr.Add([]decant.Decision{{
		Kind: decant.Insert, Reduction: decant.ReductionRecall, Target: decant.TargetOf(at), Text: text,
		After: q.Estimator.Count(text), Reason: "what is remembered of the project",
	}})
}
