package engine

import "github.com/decantdev/decant/policy"

// forced is what a refusal of the provider demands of the next attempt.
type forced struct {
	again  bool // the request was sent before
	reason policy.Reason
	factor float64 // reported as a share of estimated, 0: not known
	window int     // that the provider named, 0: none
	bytes  int     // most bytes of the body, 0: the API's limit
	unedit bool    // the provider does not take the clearing of old results
}
