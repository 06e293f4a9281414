package policy

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
)

// price returns what the plan costs now and saves later.
func (p *planner) price(plan *decant.Plan) decant.Price {
	change := cost.Change{
		Prompt: plan.Before.Total(),
		Freed:  plan.Before.Messages - plan.After.Messages,
		Behind: p.behind(),
	}
	price, ok := change.Price(p.Model, p.Now)
	if !ok {
		price.CostUSD, price.SaveUSD = 0, 0
	}
	return price
}

// behind returns the tokens of the view from its first changed message on: what the provider's cache
// has to be written anew.
func (p *planner) behind() int {
	for i := range p.view.Messages {
		if changed(&p.view.Messages[i]) {
			return p.est.Messages(p.view.Messages[i:])
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
