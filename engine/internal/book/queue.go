package book

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/engine/internal/match"
)

// An Item is an answer that waits, with its request.
type Item interface {
	Footprint() int                 // about how many bytes it takes in memory
	Begins(next *match.Prompt) bool // whether a request begins with the one that was answered
}

// A Queue holds the answers of all conversations. It is safe for concurrent use.
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

// NewQueue returns a queue for limit bytes, in which an item waits for delay at most while requests keep coming. write
// stores items of one conversation; start begins what calls it, in the background. tell is told, each once, that there
// is no room left, and how many items were lost when half of it is free again.
func NewQueue[T Item](limit int, delay time.Duration, write func([]T), start func(func()), tell func(full bool, lost int)) *Queue[T] {
	return &Queue[T]{writing: newWriting(), delay: delay, write: write, start: start, tell: tell, of: map[match.Start]*line[T]{}, backlog: backlog{limit: limit}}
}

// mostPending is how many bytes may wait for their archive before all of it is written at once, as long as the
// store can follow at all. See backlog for when it cannot.
const mostPending = 64 << 20

// A line holds the answers in one conversation that are to be archived.
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

// startNow makes the archive of what waits begin. The queue is locked.
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

// add adds an item. If it is the first of its conversation it returns the line: then somebody has to write it.
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

// startAll makes all archives begin. The queue is locked.
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

// pressed reports whether some of a line must not wait any longer.
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

// done notes that what was taken from a line was written, and ends the line if there is no more: then it
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

// Hasten makes the archive of what waits for s begin.
func (b *Queue[T]) Hasten(s match.Start) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.of[s]; q != nil {
		q.startNow()
	}
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

// Holding returns a conversation of which such an item waits, or is being written, and whether there is one.
func (b *Queue[T]) Holding(is func(T) bool) (match.Start, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s, q := range b.of {
		if slices.ContainsFunc(q.waiting, is) || slices.ContainsFunc(q.writing, is) {
			return s, true
		}
	}
	return match.Start{}, false
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

// writeAll writes the items of a line until there are none left, as many at once as wait.
func (b *Queue[T]) writeAll(s match.Start, q *line[T]) {
	for {
		b.waitForQuiet(q)
		b.begin()
		b.write(b.take(q))
		b.end()
		last := b.done(s, q)
		b.report()
		if last {
			return
		}
	}
}

// quiet is how long no request must have come before items are written that could still wait.
const quiet = 50 * time.Millisecond

// waitForQuiet returns when a line should be written: requests leave time for it, it has waited for as long as it may,
// or somebody waits for it.
func (b *Queue[T]) waitForQuiet(q *line[T]) {
	end := time.Now().Add(b.delay)
	for !b.pressed(q) {
		now := time.Now()
		if !now.Before(end) {
			b.Flush() // what is written at once costs the store less
			return
		}
		wait := min(quiet-b.idle(now), end.Sub(now))
		if wait <= 0 {
			return
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-q.wake:
			t.Stop()
		}
	}
}

// writing lets one archive at a time be put together, because requests need the processors more, and a
// few wait for the store at once, so that it can write them as one.
type writing struct{ under, together chan struct{} }

// mostWriting are the archives that wait for the store at once.
const mostWriting = 8

func newWriting() writing { return writing{make(chan struct{}, mostWriting), make(chan struct{}, 1)} }

func (w *writing) begin() { w.under <- struct{}{} }
func (w *writing) end()   { <-w.under }

// Alone calls do while no other archive is put together.
func (w *writing) Alone(do func() error) error {
	w.together <- struct{}{}
	defer func() { <-w.together }()
	return do()
}

// Traffic knows when requests were prepared. The zero value has seen none.
type Traffic struct {
	under atomic.Int64 // requests that are being prepared
	last  atomic.Int64 // when the last of them was ready, in nanoseconds of the clock
}

// Enter notes that a request begins to be prepared.
func (t *Traffic) Enter() { t.under.Add(1) }

// Leave notes that a request was prepared, or waits.
func (t *Traffic) Leave() {
	t.last.Store(time.Now().UnixNano())
	t.under.Add(-1)
}

// idle returns for how long no request has been prepared.
func (t *Traffic) idle(now time.Time) time.Duration {
	if t.under.Load() > 0 {
		return 0
	}
	return time.Duration(now.UnixNano() - t.last.Load())
}

// A backlog bounds what waits for the store. A store that hangs must not take the process down with it: what is
// refused here is lost as by a crash, and comes back with the client's next request as it does then.
type backlog struct {
	limit int  // bytes
	lost  int  // answers that found no room
	since int  // of them, when the store could follow last
	full  bool // the last answer found no room, or what waits has not gone down since
	told  bool // that it is full
}

// room reports whether an answer that takes n bytes may wait beside others that take used. One that is alone may.
// The queue is locked.
func (b *backlog) room(used, n int) bool {
	if used == 0 || used+n <= b.limit {
		return true
	}
	b.full = true
	b.lost++
	return false
}

// news returns what must be told about a backlog in which answers now take used bytes, each once: that it is full,
// or how many were lost since it was. It is full until half of it is free.
func (b *backlog) news(used int) (full bool, lost int) {
	switch {
	case !b.full:
	case !b.told:
		b.told = true
		return true, 0
	case used <= b.limit/2:
		lost, b.since = b.lost-b.since, b.lost
		b.full, b.told = false, false
	}
	return false, lost
}
