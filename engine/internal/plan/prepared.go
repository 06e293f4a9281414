package plan

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/decantdev/decant"
)

// A slot holds a value that one worker at a time renews while requests go on. The value is replaced, never changed. A
// slot is safe for concurrent use; the zero value is ready to use.
type slot[T any] struct {
	mu      sync.Mutex
	value   T
	running chan struct{} // closed when the worker is done, nil: there is none
}

// begin reports whether a worker may begin: there is none, and start, which may replace the value, says so. Whoever
// begins must call end.
func (s *slot[T]) begin(start func(T) (T, bool)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return false
	}
	next, ok := start(s.value)
	if ok {
		s.value, s.running = next, make(chan struct{})
	}
	return ok
}

// end ends the work with the next value.
func (s *slot[T]) end(next func(T) T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = next(s.value)
	close(s.running)
	s.running = nil
}

// wait waits for the worker, if there is one. It reports false when the context ends before.
func (s *slot[T]) wait(ctx context.Context) bool {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	if running == nil {
		return true
	}
	select {
	case <-running:
		return true
	case <-ctx.Done():
		return false
	}
}

// get returns the value.
func (s *slot[T]) get() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

// change replaces the value by one made of it, whether or not somebody renews it.
func (s *slot[T]) change(next func(T) T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = next(s.value)
}

// set replaces the value, whether or not somebody renews it.
func (s *slot[T]) set(value T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = value
}

// mostAhead is how many segments are kept for the next pour. Older ones have become part of a checkpoint, or are about
// messages that are no longer there.
const mostAhead = 4

// written are the segments that were written ahead of the next pour.
type written struct {
	segments []decant.Segment // in the order in which they were written
	asked    [][]string       // how the summariser was asked for each, for people
	cycle    int              // checkpoints that the conversation had when one was last begun
	next     int              // size from which the next one may begin in that cycle
	wasted   float64          // dollars for what came to nothing, and is in the cost of no checkpoint
}

// BeginSegment reports whether a segment may be written now, of a conversation with so many checkpoints and tokens. In
// a cycle one is begun when the conversation has grown by step tokens since the last, and none while another one is
// under way. Whoever begins must call EndSegment.
func (c *Cached) BeginSegment(cycle, size, step int) bool {
	return c.written.begin(func(w written) (written, bool) {
		if cycle == w.cycle && size < w.next {
			return w, false
		}
		w.cycle, w.next = cycle, size+step
		return w, true
	})
}

// EndSegment notes that the segment under way has been written, how a summariser was asked for it, for people, and what
// that has cost in dollars. One without a text is not kept, but its cost is.
func (c *Cached) EndSegment(s decant.Segment, asked []string, usd float64) {
	c.written.end(func(w written) written {
		if s.Text == "" {
			w.wasted += usd
			return w
		}
		s.CostUSD = usd
		from := max(0, len(w.segments)+1-mostAhead)
		for i := range w.segments[:from] {
			w.wasted += w.segments[i].CostUSD
		}
		w.segments, w.asked = append(slices.Clone(w.segments[from:]), s), append(slices.Clone(w.asked[from:]), asked)
		return w
	})
}

// Wasted returns the dollars that were spent on segments which are not kept, since the last checkpoint.
func (c *Cached) Wasted() float64 { return c.written.get().wasted }

// Charged notes that the cost of a checkpoint has what its segments cost, and what was wasted until then.
func (c *Cached) Charged(cp *decant.Checkpoint) {
	c.written.change(func(w written) written {
		w.segments = slices.Clone(w.segments)
		rest := cp.CostUSD
		for _, s := range cp.Segments {
			rest -= s.CostUSD
			for i := range w.segments {
				if w.segments[i].Of == s.Of && w.segments[i].From == s.From {
					w.segments[i].CostUSD = 0
				}
			}
		}
		w.wasted = max(0, w.wasted-max(0, rest))
		return w
	})
}

// Segments returns the segments that were written ahead of the next pour. They must not be changed.
func (c *Cached) Segments() []decant.Segment { return c.written.get().segments }

// writtenAhead returns notes on the newest of those segments of a plan's checkpoint that were written ahead of the
// pour, nil when there is none.
func (c *Cached) writtenAhead(plan *decant.Plan) []string {
	cp := decant.CheckpointIn(plan.Decisions)
	if c == nil || cp == nil {
		return nil
	}
	w := c.written.get()
	for _, s := range slices.Backward(cp.Segments) {
		i := slices.IndexFunc(w.segments, func(o decant.Segment) bool { return o.Of == s.Of && o.From == s.From })
		if i < 0 {
			continue
		}
		by := ""
		if s.Model != "" {
			by = " by " + s.Model
		}
		return append([]string{fmt.Sprintf("the summary of m%d to m%d was written%s before the pour was due", s.From, s.To, by)}, w.asked[i]...)
	}
	return nil
}

// BeginCandidate reports whether a candidate may be made now: only one is made at a time. Whoever begins must call
// EndCandidate.
func (c *Cached) BeginCandidate() bool {
	return c.candidate.begin(func(was *Candidate) (*Candidate, bool) { return was, true })
}

// EndCandidate puts a candidate in the place of the one that waits; nil leaves none waiting.
func (c *Cached) EndCandidate(next *Candidate) {
	c.candidate.end(func(*Candidate) *Candidate { return next })
}

// Candidate returns the candidate that waits for the next pour, nil when there is none. It must not be changed.
func (c *Cached) Candidate() *Candidate { return c.candidate.get() }

// DropCandidate leaves no candidate waiting.
func (c *Cached) DropCandidate() { c.candidate.set(nil) }
