package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/provider"
)

// Sizes of segments, in tokens.
const (
	leastStretch = 4_000 // of messages below which a stretch is not worth a call: their own lines say as much
	mostSegment  = 4_096 // of a segment, which is as much as summarisers are asked to write
	segmentShare = 0.15  // of a stretch that its segment may have
)

// Usable returns the segments that a record of c may quote, oldest first: those whose messages have not
// changed. Of two segments about the same message, the first in segments is used.
func Usable(c *decant.Conversation, segments []decant.Segment) (out []decant.Segment) {
	for _, s := range segments {
		clash := slices.ContainsFunc(out, func(o decant.Segment) bool { return s.From <= o.To && o.From <= s.To })
		if of, ok := identity(c, s.From, s.To); ok && of == s.Of && s.Text != "" && !clash {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b decant.Segment) int { return a.From - b.From })
	return out
}

// identity returns the hash of the messages with the numbers from to to as a segment names them, and whether
// c has them. The hash excludes thinking, because clients may omit it and summarisers do not read it.
func identity(c *decant.Conversation, from, to int) (decant.Hash, bool) {
	i, k := c.Index(from), c.Index(to)
	if i < 0 || k < i {
		return decant.Hash{}, false
	}
	h := sha256.New()
	for m := range slices.Values(c.Messages[i : k+1]) {
		fmt.Fprintf(h, "\x00%d\x01%s", m.Number, m.Role)
		for b := range slices.Values(m.Blocks) {
			if b.Kind != decant.KindThinking {
				of := b.Hash()
				fmt.Fprintf(h, "\x01%s\x01%s\x01%s\x01%s", b.Kind, b.CallID, b.Name, of[:])
			}
		}
	}
	return decant.Hash(h.Sum(nil)[:16]), true
}

// Stretch returns the numbers of the first and the last message that the next segment should be about, and
// whether there is enough for one: whole rounds behind the last usable segment of the options, and as many of
// them as a pour would cover that came when the messages have grown to the options' trigger. It makes no
// calls and reads only texts that it counts.
func Stretch(ctx context.Context, c *decant.Conversation, o PlanOptions) (from, to int, ok bool) {
	o.Quick = true
	p, err := newPlanner(ctx, c, o)
	if err != nil || p.bounds.tail <= p.bounds.head {
		return 0, 0, false
	}
	p.opts.Target -= max(0, p.opts.Trigger-p.sizes.total()) // what comes until then
	start := p.bounds.head
	for _, s := range Usable(c, o.Segments) {
		start = max(start, c.Index(s.To)+1)
	}
	cut, _ := p.choice().cut(p.bounds.head + 1)
	if cut <= start || p.sizes.original(start, cut) < leastStretch {
		return 0, 0, false
	}
	return c.Messages[start].Number, c.Messages[cut-1].Number, true
}

// WriteSegment asks a summariser for the segment of the messages with the numbers from to to, as Stretch
// returns them. It asks once, for about a seventh of their tokens. It fails if the summariser fails or ctx
// ends first. It also fails if the text is empty, an error message, too large, or not about these messages.
// The cost is returned in any case.
func WriteSegment(ctx context.Context, s provider.Summarizer, c *decant.Conversation, o PlanOptions, from, to int) (decant.Segment, SegmentCost, error) {
	p, err := newPlanner(ctx, c, o)
	if err != nil {
		return decant.Segment{}, SegmentCost{}, err
	}
	i, k := c.Index(from), c.Index(to)
	if i < 0 || k < i {
		return decant.Segment{}, SegmentCost{}, fmt.Errorf("write a segment of m%d to m%d: the conversation has no such messages: %w", from, to, decant.ErrNothing)
	}
	stretch := p.recorder().passage(ctx, i, k+1, 0)
	return p.recorder().segment(ctx, s, stretch, p.recorder().segmentRoom(stretch))
}

// segmentRoom returns the tokens that a segment of a passage may have.
func (r *recorder) segmentRoom(p *passage) int {
	return min(mostSegment, max(leastSummary, int(segmentShare*float64(p.checkpoint.Original))))
}

// segment asks a summariser for the segment of a passage, of at most room tokens.
func (r *recorder) segment(ctx context.Context, s provider.Summarizer, p *passage, room int) (seg decant.Segment, cost SegmentCost, err error) {
	in := r.told(p.input, room)
	out, err := ask(ctx, s, in)
	cost.Notes = out.Notes
	if out.CostUSD > 0 && !math.IsInf(out.CostUSD, 0) {
		cost.USD, cost.Booked = out.CostUSD, out.Booked
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return seg, cost, fmt.Errorf("the summariser failed: %w", err)
	}
	text, err := r.accepted(ctx, secret.Mask(strings.ToValidUTF8(out.Text, "\uFFFD")), p, room)
	if err != nil {
		return seg, cost, err
	}
	of, _ := identity(r.conv, p.checkpoint.From, p.checkpoint.To)
	return decant.Segment{
		From: p.checkpoint.From, To: p.checkpoint.To, Of: of, Text: text,
		Rung: cmp.Or(out.Rung, decant.RungModel), Model: out.Model, Gaps: out.Gaps,
	}, cost, nil
}

// The minimum that a text needs to be a segment of its messages.
const (
	leastKept     = .5 // share of its lines that name nothing that the messages do not have, and order nothing
	leastFamiliar = .3 // share of its words that the messages have: in another language they are few
)

// accepted returns the part of a summariser's text that is frozen. It may be a little larger than was asked
// for: models cannot count.
func (r *recorder) accepted(ctx context.Context, text string, p *passage, room int) (string, error) {
	sum, err := summary.Accept(ctx, text, nil, summary.Limits{
		Source: p.checkpoint.Original, Budget: room + room/4, Counter: r.opts.Estimator,
	})
	if err != nil {
		return "", err
	}
	t := summary.Tell(ctx, sum.Text, p.covered)
	switch {
	case t.Kept < leastKept:
		return "", fmt.Errorf("check summary: %.0f %% of its lines name what the messages do not have, or give orders: %w", 100*(1-t.Kept), decant.ErrSummary)
	case t.Familiar < leastFamiliar:
		return "", fmt.Errorf("check summary: %.0f %% of its words are not those of the messages: it is not about them, or in another language: %w", 100*(1-t.Familiar), decant.ErrSummary)
	}
	return t.Text, ctx.Err()
}

// told returns a summariser's input for a passage, with the fields of the options' Call.
func (r *recorder) told(in provider.SummaryInput, room int) provider.SummaryInput {
	o := &r.opts.Call
	in.MaxTokens, in.Model = room, r.opts.Model
	in.Conversation, in.Upstream, in.Instructions, in.Focus = o.Conversation, o.Upstream, o.Instructions, o.Focus
	in.Background, in.Sent = o.Background, o.Sent
	return in
}

// A SegmentCost is the cost of a segment, including rejected ones.
type SegmentCost struct {
	USD    float64
	Booked bool // it is in the ledger already

	Notes []string // how a summariser was asked, for people
}
