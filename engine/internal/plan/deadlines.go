package plan

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/store"
)

// For some seconds it is known that there is no use in waiting.
const (
	busyFor  = 5 * time.Second       // how long a store is taken for busy after somebody has waited in vain
	BusyWait = 50 * time.Millisecond // how long requests wait for it meanwhile
)

// Deadlines are how long requests may be kept waiting for what they can do without.
type Deadlines struct {
	Least, Most time.Duration // of a request, and of one that was refused before

	busy atomic.Int64 // until when the store is taken for busy, in nanoseconds since 1970; 0: it is free
}

// MarkBusy notes that somebody has waited for the store in vain.
func (d *Deadlines) MarkBusy() { d.busy.Store(time.Now().Add(busyFor).UnixNano()) }

// blocked reports whether the store is taken for busy.
func (d *Deadlines) blocked() bool {
	until := d.busy.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// Observe notes what the end of a write says about the store.
func (d *Deadlines) Observe(err error) {
	switch {
	case errors.Is(err, store.ErrBusy):
		d.MarkBusy()
	case err == nil && d.busy.Load() != 0:
		d.busy.Store(0)
	}
}

type waitKey struct{}

// A wait is how long a request may be kept waiting.
type waitUntil struct {
	until time.Time
	again bool // it was refused before: the client has nothing without what it waits for
}

// Begin returns a context that knows until when a request may be kept waiting for what it can do without. One that
// was refused before can wait longer, also for a store that is taken for busy.
func (d *Deadlines) Begin(ctx context.Context, again bool) context.Context {
	w := waitUntil{time.Now().Add(d.Least), again}
	if again {
		w.until = time.Now().Add(d.Most)
	}
	return context.WithValue(ctx, waitKey{}, w)
}

// Optional returns a context for work that the request can do without: it ends when the request may wait no longer.
// What comes after a long computation gets some time all the same, for a store that is free needs little.
func (d *Deadlines) Optional(ctx context.Context) (context.Context, context.CancelFunc) {
	w, ok := ctx.Value(waitKey{}).(waitUntil)
	if !ok {
		return context.WithTimeout(ctx, d.Least)
	}
	if t := time.Now().Add(d.Least / 2); w.until.Before(t) {
		w.until = t
	}
	return context.WithDeadline(ctx, w.until)
}

// ForStore returns a context for what has to wait when the store is locked: commits, and archives of others. Reading
// never does.
func (d *Deadlines) ForStore(ctx context.Context) (context.Context, context.CancelFunc) {
	if w, _ := ctx.Value(waitKey{}).(waitUntil); d.blocked() && !w.again {
		return context.WithTimeout(ctx, min(d.Least, BusyWait))
	}
	return d.Optional(ctx)
}

// entryTime is how long the store may take for each entry that it writes, beside what it may wait for others.
const entryTime = 100 * time.Microsecond

// ForWrite is [Deadlines.ForStore] for a write of a number of entries: many are not given up because there are many.
// While the store is locked that is no reason to wait longer.
func (d *Deadlines) ForWrite(ctx context.Context, entries int) (context.Context, context.CancelFunc) {
	if d.blocked() {
		return d.ForStore(ctx)
	}
	wait, cancel := d.ForStore(ctx)
	until, _ := wait.Deadline() // it has one
	cancel()
	return context.WithDeadline(ctx, until.Add(min(time.Duration(entries)*entryTime, d.Most)))
}

// Expired reports whether a request may wait no longer, or has to do without a store that is taken for busy.
func (d *Deadlines) Expired(ctx context.Context) bool {
	w, ok := ctx.Value(waitKey{}).(waitUntil)
	return ok && !time.Now().Before(w.until) || d.blocked() && !w.again
}
