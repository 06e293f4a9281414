package policy

// A Pourer is a request that is asked whether its conversation should be poured now. The engine's requests
// and those of a replay are asked by the same steps: [Ask] says why a pour is due, it is made, and [Pays]
// says whether it is kept. What a request is like, how a pour is carried out and what becomes of it is
// theirs.
type Pourer interface {
	// Situation returns the request as it stands, without money.
	Situation() Situation

	// Waits reports whether an early pour has brought nothing lately, and nothing has changed since; see [Backoff].
	Waits() bool

	// Economy returns what the schedule has to know of money. It is asked for only where it counts.
	Economy() Economy
}

// Ask returns why a pour is due, empty when it is not.
func Ask(p Pourer) Reason {
	s := p.Situation()
	if !p.Waits() {
		s.Economy = p.Economy()
	}
	return Due(s)
}

// Pays reports whether a pour for a reason that brings a request from one size to another, both in tokens and by the
// same count, frees as much as a pour has to.
func Pays(why Reason, before, after int) bool {
	return before > after && float64(before-after) >= worthOf(why)*float64(before)
}
