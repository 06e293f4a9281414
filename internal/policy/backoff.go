package policy

// waitFor returns the growth, in the unit of size, before the next attempt at an early pour after a number of
// failures in a row. It is a twentieth of the size and doubles with each failure, up to the fifth.
func waitFor(size, times int) int {
	return 1 + int(worth*float64(size))<<(min(times, mostTimes)-1)
}

// mostTimes is the number of failures in a row after which the wait no longer doubles.
const mostTimes = 5

// A Backoff is an early pour that was due but freed too little, so that it is not planned again with every
// request: [Due] knows how much could be removed, but not whether it can be. A backoff ends when its terms
// change or the request has grown. It is stored with the anchor, so that every engine waits for the same
// request. The zero value waits for nothing.
type Backoff struct {
	Terms string `json:"terms,omitzero"` // what the outcome depends on besides the messages
	Times int    `json:"times,omitzero"`
	// size of the request, in the unit of the caller, from which it is worth planning again
	Until int `json:"until,omitzero"`
}

// Waits reports whether a request of a size is not worth planning for. It calls terms only if the size does
// not decide.
func (b *Backoff) Waits(size int, terms func() string) bool {
	return size < b.Until && b.Terms == terms()
}

// Again returns the backoff after one more pour that freed too little of a request of a size. It waits until
// the request has grown by a share of whole.
func (b *Backoff) Again(terms string, size, whole int) Backoff {
	next := Backoff{Terms: terms, Times: 1}
	if b.Terms == terms {
		next.Times = b.Times + 1
	}
	next.Until = size + waitFor(whole, next.Times)
	return next
}
