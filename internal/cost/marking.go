package cost

// A Marking decides online whether cache markers are added to the next request of a client that sets none behind its messages.
// What is written to the cache costs more than plain input, and brings nothing if nobody reads it in time. The zero value
// has seen nothing. Amounts are in US dollars.
//
// A request is marked if what markers have lost so far, and what they could lose on it, is at most [MarkingShare] of what requests
// would have cost without them, less what they have saved. The first may lose what it writes: nothing is known by then. So
//
//	with = without + Lost <= (1 + MarkingShare) * without + what the first marked request writes too dearly,
//
// whatever the client does, as long as its requests come one after the other. A client whose beginning changes with each request, or
// who comes back only when the cache is cold, is marked once in some twelve requests.
type Marking struct {
	Plain float64 // for requests so far, as they would have cost without added markers
	Lost  float64 // by added markers so far; below 0: they have saved
	Risk  float64 // what writing all of the newest prompt costs beyond sending it
}

// MarkingShare is the part of what requests cost that may be lost by adding markers in vain.
const MarkingShare = 0.02

// Marks reports whether the next request is marked.
func (m *Marking) Marks() bool { return m.Lost+m.Risk <= MarkingShare*m.Plain }

// Answered notes what a request has cost, what it would have cost without added markers, and what writing all of it would
// cost beyond sending it.
func (m *Marking) Answered(paid, plain, risk float64) {
	m.Plain, m.Lost, m.Risk = m.Plain+plain, m.Lost+paid-plain, risk
}
