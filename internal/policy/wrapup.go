package policy

import (
	"slices"

	"github.com/decantdev/decant"
)

// wrapUp is what a model is told when a budget is nearly spent.
const wrapUp = "Token budget reached. Provide your best analysis now with what you've found."

// WrapUp returns the decision that asks the model to come to an end, behind the newest words of a view that
// decisions ds have made. It returns none where the model has been asked already.
func WrapUp(transcript, view *decant.Conversation, ds []decant.Decision, counter decant.Counter) []decant.Decision {
	at, ok := lastWord(transcript, view)
	if !ok || slices.ContainsFunc(decant.InForce(ds),
		func(d decant.Decision) bool { return d.Reduction == decant.ReductionWrapUp }) {
		return nil
	}
	return []decant.Decision{{
		Kind: decant.Insert, Reduction: decant.ReductionWrapUp, Reason: "a budget is nearly spent",
		Target: decant.TargetOf(at), Text: wrapUp, After: counter.Count(wrapUp),
	}}
}
