package book

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant/engine/internal/match"
)

// An Item is an answer that waits, with its request.
type Item interface {
	Footprint() int                 // about how many bytes it takes in memory
	Begins(next *match.Prompt) bool // whether a request begins with the one that was answered
}

// A Box holds the answers of all conversations. It is safe for concurrent use.
type Queue[T Item] struct {
	Traffic
	writing
	delay time.Duration
	write func([]T)
	start func(func())
	tell  func(full bool, lost int)

	mu      sync.Mutex
	of      map[match.Start]*line[T]
	bytes   int // that items take which wait, or are being written
	backlog backlog
}

// NewQueue returns a box for limit bytes, in which an item waits for delay at most while requests keep coming. write stores
// items of one conversation; start begins what calls it, in the background. tell is told, each once, that there is no
// room left, and how many items were lost when half of it is free again.
func NewQueue[T Item](limit int, delay time.Duration, write func([]T), start func(func()), tell func(full bool, lost int)) *Queue[T] {
	return &Queue[T]{writing: newWriting(), delay: delay, write: write, start: start, tell: tell, of: map[match.Start]*line[T]{}, backlog: backlog{limit: limit}}
}

// mostPending is how many bytes may wait for their archive before all of it is written at once, as long as the
// store can follow at all. See backlog for when it cannot.
const mostPending = 64 << 20

// A queue holds the answers in one conversation that are to be archived.
type line[T Item] struct {
	waiting    []T
	writing    []T           // taken from there
	added      int           // answers so far
	written    int           // of them
	wanted     int           // of them that must not wait any longer
	wake       chan struct{} // holds a token when wanted was raised
	progressed chan struct{} // closed, and replaced, when some were written
}

func newLine[T Item]() *line[T] {
	return &line[T]{wake: make(chan struct{}, 1), progressed: make(chan struct{})}
}

// startNow makes the archive of what waits begin. The box is locked.
func (q *line[T]) startNow() {
	if q.wanted == q.added {
		return
	}
	q.wanted = q.added
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Add adds an item, and reports false if there is no room for it.
func (b *Queue[T]) Add(s match.Start, f T) bool {
	q, kept := b.add(s, f)
	if q != nil {
		b.start(func() { b.writeAll(s, q) })
	}
	b.report()
	return kept
}

// add adds an item. If it is the first of its conversation it returns the queue: then somebody has to write it.
func (b *Queue[T]) add(s match.Start, f T) (*line[T], bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.backlog.room(b.bytes, f.Footprint()) {
		return nil, false
	}
	q, first := b.of[s], (*line[T])(nil)
	if q == nil {
		q = newLine[T]()
		b.of[s], first = q, q
	}
	q.waiting = append(q.waiting, f)
	q.added++
	if b.bytes += f.Footprint(); b.bytes > mostPending {
		b.startAll()
	}
	return first, true
}

// startAll makes all archives begin. The box is locked.
func (b *Queue[T]) startAll() {
	for _, q := range b.of {
		q.startNow()
	}
}

// Flush makes all archives begin.
func (b *Queue[T]) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startAll()
}

// pressed reports whether some of a queue must not wait any longer.
func (b *Queue[T]) pressed(q *line[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return q.wanted > q.written
}

// take returns what is waiting.
func (b *Queue[T]) take(q *line[T]) []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	fs := q.waiting
	q.waiting, q.writing = nil, fs
	return fs
}

// done notes that what was taken from a queue was written, and ends the queue if there is no more: then it
// reports true.
func (b *Queue[T]) done(s match.Start, q *line[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.written += len(q.writing)
	for i := range q.writing {
		b.bytes -= q.writing[i].Footprint()
	}
	q.writing = nil
	close(q.progressed)
	q.progressed = make(chan struct{})
	if len(q.waiting) > 0 {
		return false
	}
	delete(b.of, s)
	return true
}

// Under reports whether answers are to be archived, and whether one of them is apart: to a request that another one
// does not begin with. Then it is not known yet which of them goes on from where.
func (b *Queue[T]) Under(s match.Start, r *match.Prompt) (under, apart bool) {
	b.mu.Lock()
	q := b.of[s]
	var fs []T
	if q != nil {
		fs = slices.Concat(q.writing, q.waiting)
	}
	b.mu.Unlock()
	return q != nil, slices.ContainsFunc(fs, func(f T) bool { return !f.Begins(r) })
}

// Wait makes the archives under way for s begin and returns when they are done, or the context ends,
// and whether there were any.
func (b *Queue[T]) Wait(ctx context.Context, s match.Start) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.of[s]
	if q == nil {
		return false
	}
	q.startNow()
	for all := q.added; q.written < all && ctx.Err() == nil; {
		progressed := q.progressed
		b.mu.Unlock()
		select {
		case <-progressed:
		case <-ctx.Done():
		}
		b.mu.Lock()
	}
	return true
}

// WaitAll makes all archives begin, and returns when those are done that were under way then, or the context ends.
func (b *Queue[T]) WaitAll(ctx context.Context) {
	b.mu.Lock()
	b.startAll()
	under := slices.Collect(maps.Keys(b.of))
	b.mu.Unlock()
	for _, s := range under {
		b.Wait(ctx, s)
	}
}

// report tells what must be told about what waits.
func (b *Queue[T]) report() {
	b.mu.Lock()
	full, lost := b.backlog.news(b.bytes)
	b.mu.Unlock()
	if full || lost > 0 {
		b.tell(full, lost)
	}
}

// Size returns how many bytes items take that wait, and how many found no room.
func (b *Queue[T]) Size() (bytes, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes, b.backlog.lost
}
