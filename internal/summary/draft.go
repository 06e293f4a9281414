package summary

import (
	"context"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
)

// A Draft is what was read of messages, and what a record of them may say. It makes the extractive record, and then
// records that have lines of segments, too, without reading the messages again. It is not safe for concurrent use.
type Draft struct {
	opts  Options
	book  *book
	picks []int32 // that were chosen, best first
	fit   int     // how many of them the extractive record has
	size  int     // of that, in tokens
}

// A Mix says how much of a record is lines of segments.
type Mix struct {
	Keep  float64  // share of the extractive record's lines that stay, the best first; 1: all of them
	Room  int      // tokens that the record may have more than the extractive one
	Avoid []string // strings of which no line of a segment speaks
}

// NewDraft returns a draft of ms, and the extractive record that Extract would return.
func NewDraft(ctx context.Context, ms []decant.Message, o Options) (d *Draft, s Summary, err error) {
	if o.Counter == nil {
		o.Counter = classes{}
	}
	defer caught(&err)
	src := read(ctx, ms)
	if len(src.texts)+len(src.acts) == 0 {
		return nil, Summary{}, fmt.Errorf("summarise %d messages: %w", len(ms), decant.ErrNothing)
	}
	budget := src.allowance(o)
	for range retries {
		src.check()
		b := collect(src, budget, o.NoResults)
		want(b, o.Wanted)
		picks := b.choose()
		if s, n := b.fit(picks, 0, o); s.Text != "" {
			return &Draft{o, b, picks, n, s.Tokens}, s, nil
		}
		budget = budget*.75 - frame // what was picked first was too large by itself
	}
	return nil, Summary{}, fmt.Errorf("summarise %d messages of %d bytes in %d tokens: nothing fits: %w", len(ms),
		src.size, o.Budget, decant.ErrSummary)
}

// Compose returns a record of the draft's messages that has lines of segments, which are in the order of the
// messages. It has a share of what the extractive record says, from the messages. For the rest lines of
// segments compete unchanged with the lines of the messages that come next, by the facts that they hold. It
// returns an error that wraps decant.ErrSummary when no record fits or none of the lines is in it, and one that wraps
// decant.ErrNothing when the lines add nothing.
func (d *Draft) Compose(ctx context.Context, segments []decant.Segment, m Mix) (s Summary, err error) {
	defer caught(&err)
	d.book.src.ctx = ctx
	b, o := *d.book, d.opts
	b.entries, b.groups, b.written, b.authors = slices.Clip(b.entries), slices.Clip(b.groups), grounding{}, authors(segments)
	from, kept := int32(len(b.entries)), d.kept(m.Keep)
	for i := range segments {
		(&reteller{&b, m.Avoid}).take(&segments[i])
	}
	b.written.find(b.lex)
	o.Budget = d.size + m.Room
	b.budget *= float64(o.Budget) / float64(d.opts.Budget)
	picks := newChooser(&b).further(kept, d.picks[len(kept):], from)
	s, n := b.fit(picks, len(kept)-1, o)
	i := slices.IndexFunc(picks, func(i int32) bool { return i >= from })
	if i < 0 {
		return Summary{}, fmt.Errorf("%d segments say nothing that the record does not say: %w", len(segments), decant.ErrNothing)
	}
	if s.Text == "" || i >= n {
		return Summary{}, fmt.Errorf("no line of %d segments fits into %d tokens: %w", len(segments), o.Budget,
			decant.ErrSummary)
	}
	return s, nil
}

// kept returns the first picks of the extractive record, a share of them by their size, but all that comes before what
// competes.
func (d *Draft) kept(share float64) []int32 {
	all, n := float32(0), 0
	for _, i := range d.picks[:d.fit] {
		all += d.book.entries[i].cost
	}
	room := float32(share) * all
	for n < d.fit && (share >= 1 || room > 0 || d.book.entries[d.picks[n]].must != compete) {
		room -= d.book.entries[d.picks[n]].cost
		n++
	}
	return d.picks[:n:n]
}
