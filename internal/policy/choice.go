package policy

const (
	summaryShare = 0.3    // tokens of a summary, as a share of what it covers, where the target leaves a choice
	leastSummary = 400    // tokens below which a summary is not worth its range
	mostSummary  = 16_000 // tokens above which a summary is not read
	summaryRoom  = 0.8    // of the target, that a summary may take at most where messages follow it
)

// A choice decides, by sizes alone, how many messages a checkpoint covers and how large its record may be.
type choice struct {
	opts   *PlanOptions
	bounds *bounds
	sizes  *sizes
}

// cut returns the earliest safe cut at or after from whose remaining messages fit beside a summary of the
// others, and the summary's budget in tokens. If no cut fits, it returns the tail's start.
func (c choice) cut(from int) (cut, budget int) {
	head, tail := c.bounds.head, c.bounds.tail
	rest := c.sizes.outside(0, head)
	kept := c.sizes.total() - rest
	for i := head; i < tail; i++ {
		covered := c.sizes.original(head, i)
		room := c.opts.Target - kept - rest - c.sizes.quoted(head, i)
		if i >= from && c.bounds.cutBefore(i) == i && c.splits(i) && covered >= 2*leastSummary && room >= c.wish(covered) {
			if c.opts.Trigger > 0 {
				room = min(room, max(c.wish(covered), min(room/2, c.most())))
			}
			return i, min(room, max(c.wish(covered), c.allOf(i)))
		}
		rest -= c.sizes.view[i]
	}
	return tail, min(c.opts.Target-kept-rest-c.sizes.quoted(head, tail), c.allOf(tail))
}

// splits reports whether the preset lets stubbed messages stay between checkpoint and tail, and the
// number of messages after i is within its limit.
func (c choice) splits(i int) bool {
	p := c.opts.Preset
	limit, n := p.Trigger.Messages, len(c.bounds.ms)
	fixedTail := p.Keep.Share == 0 && (p.Keep.Messages > 0 || p.Keep.Turns > 0)
	folded := c.bounds.tail == n
	return !folded && !fixedTail && (limit == 0 || c.bounds.head+1+n-i <= limit)
}

// wish returns the size of a good summary of so many tokens that leaves room for the messages beside it.
func (c choice) wish(covered int) int {
	return min(max(leastSummary, int(summaryShare*float64(covered))), c.most(),
		max(leastSummary, int(summaryRoom*float64(c.opts.Target))))
}

func (c choice) most() int {
	if n := c.opts.Preset.Summary.MaxTokens; n > 0 {
		return n
	}
	return mostSummary
}

// allOf returns the tokens that a summary of [head, cut) may have where no message competes for the room.
// Without a tail the summary has no limit. Without automatic pours it may have half the size of what it
// covers, because the caller asked for that room.
func (c choice) allOf(cut int) int {
	most := c.most()
	switch {
	case cut == len(c.bounds.ms) && c.bounds.head == 0:
		return c.opts.Target
	case c.opts.Trigger == 0 && c.opts.Preset.Summary.MaxTokens == 0:
		return max(most, c.sizes.original(c.bounds.head, cut)/2)
	}
	return most
}

// fits reports whether head and tail leave room for a good summary of the rest.
func (c choice) fits() bool {
	head, tail := c.bounds.head, c.bounds.tail
	return c.sizes.outside(head, tail)+c.wish(c.sizes.original(head, tail)) <= c.opts.Target
}

// accepted returns the target, raised to what the kept tail needs beside a summary of the rest. The same room
// must remain for new messages below the trigger, or below the limit if the tail exceeds the trigger.
// Otherwise the next request would need a pour as well.
func (c choice) accepted() int {
	if c.opts.KeepTurns == 0 {
		return c.opts.Target
	}
	tail := c.sizes.outside(c.bounds.head, c.bounds.tail)
	for _, most := range [...]int{min(c.opts.Trigger, c.opts.Limit), c.opts.Limit} {
		if record := min(c.wish(c.sizes.original(c.bounds.head, c.bounds.tail)), (most-tail)/2); record >= leastSummary {
			return max(c.opts.Target, tail+record)
		}
	}
	return c.opts.Target
}
