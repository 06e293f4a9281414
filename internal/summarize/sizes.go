package summarize

import (
	"math"

	"github.com/decantdev/decant/preset"
)

// What may be sent to a model, and how much it may write, beside what a preset says (preset.Chunk): which share of the window
// a part takes, which at least where messages are large, the margin by which estimates of tokens may be too low, and the
// overhead of a call beside what is summarised, for instructions, facts and thinking.
const (
	maxAnswer  = 4096    // tokens of an answer
	smallShare = 0.10    // of the window that a message takes up to which messages are not large
	hugeShare  = 0.50    // of the window above which a message is left out
	leastSplit = 4       // messages that are split
	fewest     = 2       // parts of what is split
	mostParts  = 12      // of it: own calls are limited to two dozen in ten minutes
	maxQuoted  = 100_000 // characters of previews; what was said is outside of it
	headQuoted = 500     // characters of the beginning of a result
	tailQuoted = 200     // and of its end
	maxWish    = 4000    // characters of what somebody wants the record to be about
	maxCorrect = 3400    // characters of what is wrong with an answer
	maxFacts   = 6000    // characters of facts that are named to the model
)

// sizes are what a preset says of parts.
type sizes preset.Chunk

// share returns the share of a window that a part takes: less where messages are large, so that whole rounds still fit.
func (s sizes) share(tokens, messages, window int) float64 {
	if messages == 0 || window <= 0 {
		return s.Ratio
	}
	a := float64(tokens) / float64(messages) * s.Margin / float64(window)
	if a <= smallShare {
		return s.Ratio
	}
	return max(s.Least, s.Ratio-min(2*a, s.Ratio-s.Least))
}

// budget returns the estimated tokens that a part may have in a window, 1 at least.
func (s sizes) budget(window int, share float64) int {
	n := max(1, int(math.Floor(float64(window)*share))-s.Overhead)
	return max(1, int(float64(n)/s.Margin))
}

// largest returns the estimated tokens that a part may have at most to fit a call beside others of the prompt and output.
func (s sizes) largest(beside, output, window int) int {
	return max(1, int(float64(window-s.Overhead-output)/s.Margin)-beside)
}

// fits reports whether a call has room in a window: input by estimate, and output tokens.
func (s sizes) fits(input, output, window int) bool {
	return float64(input)*s.Margin+float64(s.Overhead+output) <= float64(window)
}

// follows reports whether a call has room that goes on from what was sent and taken: no margin is left for that.
func (s sizes) follows(sent, fresh, output, window int) bool {
	return float64(sent)+float64(fresh)*s.Margin+float64(output) <= float64(window)
}

// huge reports whether a message is left out of what a model with a window is asked about.
func (s sizes) huge(tokens, window int) bool {
	return float64(tokens)*s.Margin > hugeShare*float64(window)
}

// answerRoom returns how many tokens to ask for when a record may have room of them: half more than that, since models count
// otherwise and an answer that is cut off is lost, but no more than a model can give.
func answerRoom(room, most int) int {
	n := min(maxAnswer, max(256, room+room/2))
	if most > 0 {
		n = min(n, most)
	}
	return n
}

// split returns where sizes are divided: the starts of the parts behind the first. Every part takes about the same share of
// the tokens; a size that is larger than its share stays whole. No part is over budget unless it is one size.
func split(sizes []int, budget int) []int {
	total := 0
	for _, n := range sizes {
		total += n
	}
	parts := max(fewest, (total+budget-1)/max(1, budget))
	for ; parts < len(sizes); parts++ {
		if cuts := shares(sizes, total, parts); within(sizes, cuts, budget) {
			return cuts
		}
	}
	return shares(sizes, total, len(sizes))
}

// shares divides sizes into at most so many parts: a part ends where the next size would bring it over an equal share.
func shares(sizes []int, total, parts int) (cuts []int) {
	parts = min(max(1, parts), max(1, len(sizes)))
	if parts == len(sizes) {
		for i := 1; i < parts; i++ {
			cuts = append(cuts, i)
		}
		return cuts
	}
	share, sum := float64(total)/float64(parts), 0
	for i, n := range sizes {
		if i > 0 && sum > 0 && len(cuts) < parts-1 && float64(sum+n) > share {
			cuts, sum = append(cuts, i), 0
		}
		sum += n
	}
	return cuts
}

// within reports whether every part of sizes has at most budget tokens, or is one size.
func within(sizes, cuts []int, budget int) bool {
	start := 0
	for i := range len(cuts) + 1 {
		end := len(sizes)
		if i < len(cuts) {
			end = cuts[i]
		}
		sum := 0
		for _, n := range sizes[start:end] {
			sum += n
		}
		if sum > budget && end-start > 1 {
			return false
		}
		start = end
	}
	return true
}
