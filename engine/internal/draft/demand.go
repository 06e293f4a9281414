package draft

import "github.com/decantdev/decant/policy"

// Demand is what a refusal of the provider demands of the next attempt.
type Demand struct {
	Again  bool // the request was sent before
	Reason policy.Reason
	Factor float64 // reported as a share of estimated, 0: not known
	Window int     // that the provider named, 0: none
	Bytes  int     // most bytes of the body, 0: the API's limit
	Unedit bool    // the provider does not take the clearing of old results, or a summary of its own
}
