package policy

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// price returns the cost of a plan now and its savings later; own is the cost of model calls made for it.
func price(plan *decant.Plan, view *decant.Conversation, o *PlanOptions, own float64) decant.Price {
	change := cost.Change{
		Prompt: plan.Before.Total(),
		Freed:  plan.Before.Messages - plan.After.Messages,
		Behind: behind(view, o.Estimator) + o.Coming,
		OwnUSD: own,
	}
	price, ok := change.Price(o.Model, o.Now)
	if !ok {
		price.CostUSD, price.SaveUSD = own, 0
	}
	return price
}

// behind returns the tokens of the view from its first changed message on, which the provider's cache must
// write again.
func behind(view *decant.Conversation, est *token.Estimator) int {
	for i := range view.Messages {
		if changed(&view.Messages[i]) {
			return est.Messages(view.Messages[i:])
		}
	}
	return 0
}

// changed reports whether a decision changed m or wrote it. A block that a decision dropped leaves a
// gap in the blocks' references.
func changed(m *decant.Message) bool {
	if m.Number == 0 {
		return true
	}
	for k := range m.Blocks {
		if m.Blocks[k].Changed != "" || m.Blocks[k].Ref.Block != k {
			return true
		}
	}
	return false
}
