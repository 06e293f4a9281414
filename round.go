package decant

// A Round is an assistant message with its tool calls, all their results, and what stands between
// them: the messages [Start, End) of the slice it was found in. No edit may split it.
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

// reaches returns for each message the index of the last message that answers one of its calls;
// its own index when none does.
func reaches(ms []Message) []int {
	type call struct{ message, before int } // before: the older call with the same id, -1 for none
	reach := make([]int, len(ms))
	var calls []call
	open := map[string]int{} // by id, the newest call without an answer; answered calls are removed, so the map stays small
	for i := range ms {
		reach[i] = i
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
	return reach
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
