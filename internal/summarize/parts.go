package summarize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
)

// A stretch is messages that are asked about in one call: entries [start, end), and what was answered.
type stretch struct {
	start, end int
	text       string
	err        error
}

// What is asked about parts.
const (
	partsAtOnce = 3   // calls at the same time
	leastPart   = 512 // tokens that the record of a part may have, where the whole has them
)

// parts asks for a record of each part, and makes one of them.
func (t *task) parts(ctx context.Context) (provider.Summary, error) {
	ps := t.divide()
	if len(ps) < fewest {
		return provider.Summary{}, fmt.Errorf("summarise %d messages with %s: %w: %w", len(t.entries), t.model.ID, ErrTooLarge, decant.ErrSummary)
	}
	t.askParts(ctx, ps)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return provider.Summary{}, err
	}
	done := slices.DeleteFunc(slices.Clone(ps), func(p stretch) bool { return p.err != nil })
	if len(done) == 0 {
		return provider.Summary{}, fmt.Errorf("summarise %d parts: %w", len(ps), ps[0].err)
	}
	for _, p := range ps {
		if p.err != nil {
			t.gaps = append(t.gaps, decant.Gap{From: t.entries[p.start].number, To: t.entries[p.end-1].number, Why: reason(p.err)})
		}
	}
	slices.SortFunc(t.gaps, func(a, b decant.Gap) int { return a.From - b.From })
	return t.summary(t.merged(ctx, done), decant.RungChunks), nil
}

// divide returns the parts: whole rounds, with about the same share of the tokens each. There are none where the messages
// are too few to divide.
func (t *task) divide() []stretch {
	if len(t.entries) < leastSplit || len(t.groups) < fewest {
		return nil
	}
	tokens := make([]int, len(t.groups))
	for i, g := range t.groups {
		tokens[i] = t.size(g.start, g.end)
	}
	share := t.sizes.share(t.size(0, len(t.entries)), len(t.entries), t.model.Window)
	cuts := split(tokens, t.sizes.budget(t.model.Window, share))
	if len(cuts) >= mostParts { // as large as they can be, then
		cuts = split(tokens, t.sizes.largest(t.brief.size(t.count), t.output(leastPart), t.model.Window))
	}
	if len(cuts) >= mostParts {
		return nil
	}
	var out []stretch
	start := 0
	for _, cut := range append(cuts, len(t.groups)) {
		out = append(out, stretch{start: t.groups[start].start, end: t.groups[cut-1].end})
		start = cut
	}
	return out
}

// askParts asks for a record of each part, in their order.
func (t *task) askParts(ctx context.Context, ps []stretch) {
	var wg sync.WaitGroup
	next := make(chan int, len(ps))
	for i := range ps {
		next <- i
	}
	close(next)
	for range partsAtOnce {
		wg.Go(func() {
			for i := range next {
				ps[i].text, ps[i].err = t.askPart(ctx, ps[i], i+1, len(ps))
			}
		})
	}
	wg.Wait()
}

// askPart asks for the record of part n of so many.
func (t *task) askPart(ctx context.Context, p stretch, n, of int) (string, error) {
	b, messages, size := t.brief, t.text(p.start, p.end), t.size(p.start, p.end)
	b.from, b.to = t.entries[p.start].number, t.entries[p.end-1].number
	b.part = fmt.Sprintf("part %d of %d of a conversation, the oldest first%s", n, of, t.span(p))
	b.facts = slices.DeleteFunc(slices.Clone(b.facts), func(f decant.Fact) bool { return f.Message < b.from || f.Message > b.to })
	b.room = min(b.room, max(leastPart, 2*b.room/of))
	if !t.sizes.fits(size+b.size(t.count), t.output(b.room), t.model.Window) {
		return "", ErrTooLarge
	}
	b.marked(messages)
	return t.write(ctx, &question{brief: &b, model: t.model, prompt: b.prompt(messages), source: size, once: true})
}

// span says from when to when the messages of a part are, where that is known.
func (t *task) span(p stretch) string {
	from, to := t.in.Messages[p.start].Time, t.in.Messages[p.end-1].Time
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return ", from " + from.UTC().Format(time.DateTime) + " to " + to.UTC().Format(time.DateTime) + " UTC"
}

// reason says in a few words why there is no record of a part.
func reason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "there was no time left"
	case errors.Is(err, ErrTooLarge):
		return "too large for the model that summarises"
	case errors.Is(err, decant.ErrSummary):
		return "the model wrote nothing usable"
	}
	return "the model could not be asked"
}

// merged makes one record of those of parts: section by section, as they stand, where that has room; else as a model merges
// them; else as much of them as there is room for.
func (t *task) merged(ctx context.Context, ps []stretch) string {
	b := t.brief
	c := &checker{brief: &b, counter: t.counter, known: t.known}
	joined := c.join(ps)
	if t.counter.Count(joined) <= b.room {
		return joined
	}
	var quoted strings.Builder
	for i, p := range ps {
		fmt.Fprintf(&quoted, "Part %d, m%d to m%d:\n%s\n\n", i+1, t.entries[p.start].number, t.entries[p.end-1].number, p.text)
	}
	b.marked(quoted.String())
	q := &question{brief: &b, model: t.model, prompt: b.merging(quoted.String()), source: t.count.Count(quoted.String())}
	if t.sizes.fits(q.source+b.size(t.count), t.output(b.room), t.model.Window) {
		if text, err := t.write(ctx, q); err == nil {
			return text
		}
	}
	return c.trimmed(joined, b.room)
}

// merging returns what a model is given that merges records of parts.
func (b *brief) merging(records string) string {
	var w strings.Builder
	fmt.Fprintf(&w, "These records are of the parts of one conversation, m%d to m%d, the oldest first, as data:\n\n", b.from, b.to)
	w.WriteString(b.quoted("records", records))
	w.WriteString(`
Merge them into one record. Keep active tasks and their state, counts of what is done of a batch, the last request of the user and what was being done, ` +
		`decisions with their reasons, open questions and constraints, and promises made. Keep lines as they stand, with their numbers. ` +
		`Where lines contradict each other, the later one holds; prefer recent things to old ones.
`)
	b.beside(&w)
	return w.String()
}

// join returns the records of parts as one, section by section.
func (c *checker) join(ps []stretch) string {
	all := make([]string, len(c.brief.headings))
	for _, p := range ps {
		sections, _ := c.sections(p.text)
		for i, lines := range sections {
			for _, l := range lines {
				l, _ = c.cite(l)
				all[i] += l + "\n"
			}
		}
	}
	return c.headed(all)
}

// headed returns sections under their headings.
func (c *checker) headed(bodies []string) string {
	var w strings.Builder
	for i, body := range bodies {
		if body != "" {
			w.WriteString("# " + c.brief.headings[i] + "\n" + body)
		}
	}
	return strings.TrimSpace(w.String())
}

// trimmed returns as much of a record as has room: of the longest section the oldest line goes, again and again.
func (c *checker) trimmed(text string, room int) string {
	sections, _ := c.sections(text)
	bodies, size := make([]string, len(c.brief.headings)), 0
	for i, lines := range sections {
		for k, l := range lines {
			lines[k], _ = c.cite(l)
		}
		bodies[i] = strings.Join(lines, "\n") + "\n"
	}
	for size = c.counter.Count(c.headed(bodies)); size > room; size = c.counter.Count(c.headed(bodies)) {
		most := 0
		for i := range bodies {
			if len(bodies[i]) > len(bodies[most]) {
				most = i
			}
		}
		if bodies[most] == "" {
			return ""
		}
		_, bodies[most], _ = strings.Cut(bodies[most], "\n")
	}
	return c.headed(bodies)
}
