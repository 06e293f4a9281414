package policy

// waitFor returns by how much a request of a size, in any unit, has to grow before an early pour is
// planned again that has brought nothing so many times in a row: a twentieth, and twice as much after
// each further time, up to the fifth.
func waitFor(size, times int) int {
	return 1 + int(worth*float64(size))<<(min(times, mostTimes)-1)
}

// mostTimes are the failures after which the growth that is waited for stays the same.
const mostTimes = 5

// A Backoff is an early pour that was due and brought nothing, so that it is not planned again with every request:
// [Due] goes by how much could go and does not know whether it can go. It holds until what it depended on is
// different, or more is there to pour. It is stored with the anchor, so that every engine waits for the same request.
// The zero value waits for nothing.
type Backoff struct {
	Terms string `json:"terms,omitzero"` // what the outcome depends on besides the messages
	Times int    `json:"times,omitzero"`
	Until int    `json:"until,omitzero"` // size of the request, in the unit of the caller, from which it is worth planning again
}

// Waits reports whether a request of a size is not worth planning for. terms is called only when the size does not tell.
func (b *Backoff) Waits(size int, terms func() string) bool {
	return size < b.Until && b.Terms == terms()
}

// Again returns the backoff after one more pour that brought nothing to a request of a size, which waits until it has
// grown by a share of whole.
func (b *Backoff) Again(terms string, size, whole int) Backoff {
	next := Backoff{Terms: terms, Times: 1}
	if b.Terms == terms {
		next.Times = b.Times + 1
	}
	next.Until = size + waitFor(whole, next.Times)
	return next
}
