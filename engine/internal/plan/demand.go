package plan

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/policy"
)

// Demand is what a refusal of the provider demands of the next attempt.
type Demand struct {
	Again  bool // the request was sent before
	Reason policy.Reason
	Tried  string        // the route of the form that was refused, where that was made for a refusal itself; empty: none
	Factor float64       // reported as a share of estimated, 0: not known
	Window int           // that the provider named, 0: none
	Bytes  int           // most bytes of the body, 0: the API's limit
	Unedit bool          // the provider does not take the clearing of old results, a summary of its own, or rules for the prompt
	Topic  dialect.Topic // of these, what the provider has named

	Summary *dialect.ProviderSummary // that the model has written in place of an answer, nil: none
	Unpause bool                     // it has written none, or is not to write another one
	Paid    decant.Usage             // of the passes behind which it has paused
}
