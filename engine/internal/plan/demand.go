package plan

import (
	"github.com/decantdev/decant"
	"github.com/decantdev/decant/dialect"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/token"
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

// Adjust takes over what the provider has said of the size of a request.
func (f *Demand) Adjust(m *Meter) {
	if f.Window > 0 {
		m.Window = f.Window
	}
	if f.Factor > 0 {
		m.Calibration = token.Calibration{Factor: min(max(f.Factor, 0.5), 2), Seen: m.Seen + 1}
	}
	if f.Reason == policy.Overflow {
		m.Length = 0 // what was reported before has proved wrong
	}
}
