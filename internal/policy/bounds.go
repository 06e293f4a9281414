package policy

import (
	"slices"

	"github.com/decantdev/decant"
)

// bounds are the parts of a conversation that stay verbatim: its head and its tail.
type bounds struct {
	ms     []decant.Message
	cuts   []int // safe cut points
	head   int   // messages [0, head) stay: the task
	tail   int   // messages [tail, end) stay: the newest rounds
	wanted int   // the tail's start as it was asked for
}

// boundsOf returns the bounds of messages with the given sizes.
func boundsOf(ms []decant.Message, tokens []int, o *PlanOptions) *bounds {
	b := &bounds{ms: ms, cuts: decant.Cuts(ms), head: headEnd(ms, tokens, o)}
	b.tail = max(b.head, b.tailStart(tokens, o))
	b.wanted = b.tail
	return b
}

// headEnd returns the end of what stays at the beginning: everything up to the user's first words,
// when the preset keeps them and they are not a third of the target by themselves.
func headEnd(ms []decant.Message, tokens []int, o *PlanOptions) int {
	if o.KeepTurns == 0 || o.Record || !o.Preset.Keep.First || len(ms) == 0 || ms[0].Compaction {
		return 0
	}
	n := 0
	for i := range ms {
		if ms[i].Role == decant.RoleAssistant {
			return 0
		}
		n += tokens[i]
		if ms[i].UserWords() {
			if n > o.Target/3 {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// tailStart returns the safe cut from which everything stays verbatim.
func (b *bounds) tailStart(tokens []int, o *PlanOptions) int {
	n := len(b.ms)
	if o.KeepTurns == 0 {
		return n
	}
	start := min(b.lastRound(), b.byTokens(tokens, o))
	if k := o.Preset.Keep.Messages; k > 0 {
		start = min(start, b.cutBefore(n-k))
	}
	if k := max(o.KeepTurns, o.Preset.Keep.Turns); k > 0 {
		turns := decant.Turns(b.ms)
		start = min(start, turns[max(0, len(turns)-k)].Start)
	}
	return start
}

// lastRound returns the start of the part that must always stay: the open round, or the user's newest
// unanswered words.
func (b *bounds) lastRound() int { return b.cutBefore(len(b.ms) - 1) }

// byTokens returns the start of the longest tail of whole rounds within the tokens to keep.
func (b *bounds) byTokens(tokens []int, o *PlanOptions) int {
	keep := o.Keep
	if keep == 0 {
		share := o.Preset.Keep.Share
		if share == 0 && o.Preset.Keep.Messages == 0 && o.Preset.Keep.Turns == 0 {
			share = 0.2
		}
		keep = int(share * float64(o.Target))
	}
	start, sum := len(tokens), o.Coming
	for i := len(tokens) - 1; i >= 0; i-- {
		sum += tokens[i]
		if sum > keep {
			break
		}
		if _, safe := slices.BinarySearch(b.cuts, i); safe {
			start = i
		}
	}
	return start
}

// cutBefore returns the last safe cut at or before i.
func (b *bounds) cutBefore(i int) int {
	k, exact := slices.BinarySearch(b.cuts, max(0, i))
	if !exact && k > 0 {
		k--
	}
	return b.cuts[k]
}

// widen starts the tail earlier if cuts inside it have made room for more rounds.
func (b *bounds) widen(tokens []int, o *PlanOptions) {
	b.tail = min(b.tail, max(b.head, b.tailStart(tokens, o)))
}
