package cost

// A Marking decides online whether cache markers are added to the next request of a client that sets none
// behind its messages. What is written to the cache costs more than plain input, and brings nothing if nobody
// reads it in time. The zero value has seen nothing. Amounts are in US dollars.
//
// It takes two marked requests in a row to see whether the second reads what the first has left: that is a
// try. A try begins if what markers have lost so far, and what it could lose, is at most [MarkingShare] of
// what requests would have cost without them. It goes on for as long as requests read, or as the same holds
// for one more. So while prompts grow
//
//	with <= (1 + MarkingShare) * without + what writing the two largest prompts costs beyond sending them,
//
// whatever the client does, as long as its requests come one after the other. A client whose beginning
// changes with each request, or who comes back only when the cache is cold, is marked a few times in a
// hundred requests.
type Marking struct {
	Plain float64 // for requests so far, as they would have cost without added markers
	Lost  float64 // by added markers so far; below 0: they have saved
	Risk  float64 // what writing all of the newest prompt costs beyond sending it
	Run   int     // marked requests in a row
	Read  bool    // the newest has read at least half of what the one before it held
	size  int     // tokens of the newest prompt
}

// MarkingShare is the part of what requests cost that may be lost by adding markers in vain.
const MarkingShare = 0.02

// Marks reports whether the next request is marked.
func (m *Marking) Marks() bool {
	switch {
	case m.Run == 1, m.Run > 1 && m.Read:
		return true
	case m.Run > 1:
		return m.Lost+m.Risk <= MarkingShare*m.Plain
	}
	return m.Lost+2*m.Risk <= MarkingShare*m.Plain
}

// A Marked is a request that was answered.
type Marked struct {
	Paid, Plain float64 // what it has cost, and would have without added markers
	Risk        float64 // what writing all of it costs beyond sending it
	Read, Size  int     // tokens of its prompt that were read from the cache, and all of them
	Added       bool    // it had added markers
}

// Answered notes what has become of a request.
func (m *Marking) Answered(r Marked) {
	m.Plain, m.Lost, m.Risk = m.Plain+r.Plain, m.Lost+r.Paid-r.Plain, r.Risk
	m.Read = r.Added && m.size > 0 && 2*r.Read >= m.size
	if m.size = r.Size; !r.Added {
		m.Run = 0
		return
	}
	m.Run++
}
