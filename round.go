package decant

// A Round is an assistant message with its tool calls, all their results, and everything between them: the
// messages [Start, End) of the slice it was found in. No edit may split it. A call that the server answers
// itself may have its result in a later message of the assistant, behind the results of the client's calls
// beside it; all that is one round.
type Round struct {
	Start, End int
	Open       bool // nothing follows the round yet: the model has yet to answer
}

// Rounds returns the rounds of ms in order. Messages outside of rounds are those of the user or the
// system that answer no call.
//
// A result belongs to the newest unanswered call with its id, because ids may repeat.
func Rounds(ms []Message) []Round {
	reach := reaches(ms)
	var out []Round
	for i := 0; i < len(ms); i++ {
		if ms[i].Role != RoleAssistant {
			continue
		}
		start, end := i, reach[i]
		for ; i < end; i++ {
			end = max(end, reach[i+1])
		}
		if out == nil {
			out = make([]Round, 0, (len(ms)-start+1)/2)
		}
		out = append(out, Round{Start: start, End: end + 1, Open: end+1 == len(ms)})
	}
	return out
}

// AwaitsServer reports whether a call that the server answers itself has no result yet and may still get one:
// then the only thing that may follow the messages is results of the client's calls
// (docs/reference/anthropic.md, "Server tools").
func AwaitsServer(ms []Message) bool {
	waiting := map[string]int{}
	for i := range ms {
		serve(waiting, &ms[i], i, func(int) {})
	}
	end := len(ms) - 1
	for _, at := range waiting {
		if resultsOnly(ms[at:]) == end-at {
			return true
		}
	}
	return false
}

// reaches returns for each message the index of the last message that answers one of its calls;
// its own index when none does.
func reaches(ms []Message) []int {
	type call struct{ message, before int } // before: the older call with the same id, -1 for none
	reach := make([]int, len(ms))
	var calls []call
	// by id, the newest call without an answer; answered calls are removed, so the map stays small
	open := map[string]int{}
	waiting := map[string]int{} // by id, the message of a call that the server has not answered
	for i := range ms {
		reach[i] = i
		serve(waiting, &ms[i], i, func(call int) { reach[call] = i })
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			switch b.Kind {
			case KindUse:
				before, ok := open[b.CallID]
				if !ok {
					before = -1
				}
				open[b.CallID] = len(calls)
				calls = append(calls, call{i, before})
			case KindResult:
				c, ok := open[b.CallID]
				if !ok {
					continue
				}
				reach[calls[c].message] = i
				if open[b.CallID] = calls[c].before; calls[c].before < 0 {
					delete(open, b.CallID)
				}
			}
		}
	}
	for _, at := range waiting {
		if last := at + resultsOnly(ms[at:]); last+1 == len(ms) {
			reach[at] = last
		}
	}
	return reach
}

// serve notes the calls of message i that the server answers itself, and tells of the message whose call a result in it
// answers. Of two opaque blocks with one id the first is the call.
func serve(waiting map[string]int, m *Message, i int, answered func(call int)) {
	if m.Role != RoleAssistant {
		return
	}
	for k := range m.Blocks {
		b := &m.Blocks[k]
		if b.Kind != KindOpaque || b.CallID == "" {
			continue
		}
		at, ok := waiting[b.CallID]
		if !ok {
			waiting[b.CallID] = i
			continue
		}
		answered(at)
		delete(waiting, b.CallID)
	}
}

// resultsOnly returns how many messages behind the first are of the assistant or hold nothing but results:
// the turn of the assistant continues in them.
func resultsOnly(ms []Message) (n int) {
	for _, m := range ms[1:] {
		if m.Role != RoleAssistant {
			for k := range m.Blocks {
				if m.Blocks[k].Kind != KindResult {
					return n
				}
			}
		}
		n++
	}
	return n
}

// Cuts returns the safe cut points of ms in rising order: every i in [0, len(ms)] such that
// ms[:i] and ms[i:] share no round.
func Cuts(ms []Message) []int {
	var out []int
	next := 0
	for _, r := range Rounds(ms) {
		for ; next <= r.Start; next++ {
			out = append(out, next)
		}
		next = r.End
	}
	for ; next <= len(ms); next++ {
		out = append(out, next)
	}
	return out
}

// A Turn is the messages [Start, End) from one thing the user said to the next.
type Turn struct{ Start, End int }

// Turns returns the turns of ms in order. Messages before the user's first words belong to the
// first turn, so turns cover ms without gaps; a turn never starts inside a round.
func Turns(ms []Message) []Turn {
	if len(ms) == 0 {
		return nil
	}
	var out []Turn
	start, spoken := 0, false
	for _, i := range Cuts(ms) {
		if i == len(ms) || ms[i].Role != RoleUser || !ms[i].UserWords() {
			continue
		}
		if spoken {
			out = append(out, Turn{start, i})
			start = i
		}
		spoken = true
	}
	return append(out, Turn{start, len(ms)})
}
