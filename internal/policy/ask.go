package policy

// A Pourer is a request that is asked whether its conversation should be poured now. The engine's requests
// and those of a replay are asked by the same steps: [Ask] says why a pour is due, it is made, and [Pays]
// says whether it is kept. The caller describes the request and carries out the pour.
type Pourer interface {
	// Situation describes the request, apart from money.
	Situation() Situation

	// Waits reports whether a recent early pour freed too little and nothing has changed since; see [Backoff].
	Waits() bool

	// Economy returns the prices that the schedule needs. Ask calls it only if they matter.
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

// Pays reports whether a pour that shrinks a request from before to after tokens frees enough for its reason.
// Both sizes come from the same counter.
func Pays(why Reason, before, after int) bool {
	return before > after && float64(before-after) >= worthOf(why)*float64(before)
}
