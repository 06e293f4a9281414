package cost

// A KeepWarm decides online whether a request of one output token is sent over the prefix of a resting conversation,
// shortly before its cache entry expires, so that the next request reads it instead of writing it again. The zero
// value has seen nothing. Amounts are in US dollars.
//
// In one pause it spends at most what losing the entry would cost, as who rents skis until they could have been bought. That
// is at most twice what somebody pays who knows how long the pause lasts, unless the second limit ends it before. Over the
// conversation it spends no more than [KeepWarmShare] of what the requests have cost so far, and what it has saved. So at any moment
//
//	with = without + Spent - Saved <= without + KeepWarmShare * Paid <= (1 + KeepWarmShare) * without,
//
// whatever the user does.
type KeepWarm struct {
	Paid  float64 // for requests so far, as they would have cost without this
	Spent float64 // on keeping warm
	Saved float64 // by it
}

// KeepWarmShare is the part of what a conversation has cost that may be lost by keeping it warm.
const KeepWarmShare = 0.02

// Ping reports whether one more such request is sent in the present pause. sent is what those before it in this pause
// have cost, one what this one costs, and lost by how much the next request is dearer if the entry has expired.
func (k *KeepWarm) Ping(sent, one, lost float64) bool {
	return sent+one <= lost && k.Spent+one <= KeepWarmShare*k.Paid+k.Saved
}
