package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
)

// pending knows which conversations have archives under way.
type pending struct {
	mu    sync.Mutex
	of    map[lineage.Start]*queue
	bytes int // that answers with their requests take which wait, or are being written
	backlog
}

// mostPending is how many bytes may wait for their archive before all of it is written at once, as long as the
// store can follow at all. See backlog for when it cannot.
const mostPending = 64 << 20

// A queue holds the answers in one conversation that are to be archived.
type queue struct {
	waiting []finished
	writing []finished    // taken from there
	added   int           // answers so far
	written int           // of them
	wanted  int           // of them that must not wait any longer
	hurry   chan struct{} // holds a token when wanted was raised
	turn    chan struct{} // closed, and replaced, when some were written
}

func newQueue() *queue { return &queue{hurry: make(chan struct{}, 1), turn: make(chan struct{})} }

// press makes the archive of what waits begin. The pending queues are locked.
func (q *queue) press() {
	if q.wanted == q.added {
		return
	}
	q.wanted = q.added
	select {
	case q.hurry <- struct{}{}:
	default:
	}
}

// add adds an answer, and reports false if there is no room for it. If it is the first of its conversation it
// returns the queue: then somebody has to write.
func (p *pending) add(s lineage.Start, f finished) (*queue, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room(p.bytes, f.footprint()) {
		return nil, false
	}
	if p.of == nil {
		p.of = map[lineage.Start]*queue{}
	}
	q, first := p.of[s], (*queue)(nil)
	if q == nil {
		q = newQueue()
		p.of[s], first = q, q
	}
	q.waiting = append(q.waiting, f)
	q.added++
	if p.bytes += f.footprint(); p.bytes > mostPending {
		p.press()
	}
	return first, true
}

// press makes all archives begin. The queues are locked.
func (p *pending) press() {
	for _, q := range p.of {
		q.press()
	}
}

// flush makes all archives begin.
func (p *pending) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.press()
}

// pressed reports whether some of a queue must not wait any longer.
func (p *pending) pressed(q *queue) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return q.wanted > q.written
}

// take returns what is waiting.
func (p *pending) take(q *queue) []finished {
	p.mu.Lock()
	defer p.mu.Unlock()
	fs := q.waiting
	q.waiting, q.writing = nil, fs
	return fs
}

// done notes that what was taken from a queue was written, and ends the queue if there is no more: then it
// reports true.
func (p *pending) done(s lineage.Start, q *queue) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.written += len(q.writing)
	for i := range q.writing {
		p.bytes -= q.writing[i].footprint()
	}
	q.writing = nil
	close(q.turn)
	q.turn = make(chan struct{})
	if len(q.waiting) > 0 {
		return false
	}
	delete(p.of, s)
	return true
}

// under reports whether answers are to be archived, and whether one of them is apart: to a request that another one
// does not begin with. Then it is not known yet which of them goes on from where.
func (p *pending) under(s lineage.Start, r *prompt.Prompt) (under, apart bool) {
	p.mu.Lock()
	q := p.of[s]
	var fs []finished
	if q != nil {
		fs = slices.Concat(q.writing, q.waiting)
	}
	p.mu.Unlock()
	return q != nil, slices.ContainsFunc(fs, func(f finished) bool { return !f.ticket.r.Begins(r) })
}

// wait makes the archives under way for s begin and returns when they are done, or the context ends,
// and whether there were any.
func (p *pending) wait(ctx context.Context, s lineage.Start) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.of[s]
	if q == nil {
		return false
	}
	q.press()
	for all := q.added; q.written < all && ctx.Err() == nil; {
		turn := q.turn
		p.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done():
		}
		p.mu.Lock()
	}
	return true
}

// quiet is how long no request must have come before archives are written that could still wait.
const quiet = 50 * time.Millisecond

// rest returns when the archive of a queue should be written: requests leave time for it, it has waited
// for as long as it may, or somebody waits for it. So the answers of an agent that thinks between its
// requests are stored before it has read them, and requests that come one upon the other are stored
// together.
func (e *Engine) rest(q *queue) {
	end := time.Now().Add(e.opts.ArchiveDelay)
	for !e.pending.pressed(q) {
		now := time.Now()
		if !now.Before(end) {
			e.pending.flush() // what is written at once costs the store less
			return
		}
		wait := min(quiet-e.traffic.idle(now), end.Sub(now))
		if wait <= 0 {
			return
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-q.hurry:
			t.Stop()
		}
	}
}

// traffic knows when requests were prepared. The zero value has seen none.
type traffic struct {
	under atomic.Int64 // requests that are being prepared
	last  atomic.Int64 // when the last of them was ready, in nanoseconds of the clock
}

func (t *traffic) enter() { t.under.Add(1) }

func (t *traffic) leave() {
	t.last.Store(time.Now().UnixNano())
	t.under.Add(-1)
}

// idle returns for how long no request has been prepared.
func (t *traffic) idle(now time.Time) time.Duration {
	if t.under.Load() > 0 {
		return 0
	}
	return time.Duration(now.UnixNano() - t.last.Load())
}
