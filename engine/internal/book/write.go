package book

import (
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/engine/internal/match"
)

// writeAll writes the items of a queue until there are none left, as many at once as wait.
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

// waitForQuiet returns when a queue should be written: requests leave time for it, it has waited for as long as it may, or
// somebody waits for it.
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
