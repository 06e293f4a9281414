package plan

import (
	"slices"
	"sync"

	"github.com/decantdev/decant"
)

// mostAhead is how many segments are kept for the next pour. Older ones have become part of a checkpoint, or are about
// messages that are no longer there.
const mostAhead = 4

// Segments are the segments that were written ahead of the next pour. One is written at a time. It is safe for concurrent
// use; the zero value is ready to use.
type Segments struct {
	mu       sync.Mutex
	segments []decant.Segment // in the order in which they were written
	asked    [][]string       // how the summariser was asked for each, for people
	running  chan struct{}    // closed when the one under way has been written, nil: none is
	cycle    int              // checkpoints that the conversation had when one was last begun
	next     int              // size from which the next one may begin in that cycle
}

// Begin reports whether a segment may be written now, of a conversation with so many checkpoints and tokens, and notes that
// it is. In a cycle one is begun when the conversation has grown by step tokens since the last, and none while another one
// is under way. Whoever begins must call End.
func (a *Segments) Begin(cycle, size, step int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running != nil || cycle == a.cycle && size < a.next {
		return false
	}
	a.running, a.cycle, a.next = make(chan struct{}), cycle, size+step
	return true
}

// End notes that the segment under way has been written, and how a summariser was asked for it, for people. One without
// a text is none.
func (a *Segments) End(s decant.Segment, asked []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.Text != "" {
		from := max(0, len(a.segments)+1-mostAhead)
		a.segments, a.asked = append(slices.Clone(a.segments[from:]), s), append(slices.Clone(a.asked[from:]), asked)
	}
	close(a.running)
	a.running = nil
}

// Segments returns the segments, which must not be changed.
func (a *Segments) Segments() []decant.Segment {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.segments
}

// Asked returns how a summariser was asked for a segment, and whether it was written ahead at all.
func (a *Segments) Asked(s decant.Segment) ([]string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.segments {
		if a.segments[i].Of == s.Of && a.segments[i].From == s.From {
			return a.asked[i], true
		}
	}
	return nil, false
}

// Running returns a channel that is closed when the segment under way has been written, nil when none is.
func (a *Segments) Running() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running
}
