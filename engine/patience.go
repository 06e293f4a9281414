package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/store"
)

// A store that another process keeps locked costs a request the time of its optional work, once, and those that
// follow hardly any: for some seconds it is known that there is no use in waiting.
const (
	busyFor = 5 * time.Second       // how long a store is taken for busy after somebody has waited in vain
	brief   = 50 * time.Millisecond // how long requests wait for it meanwhile
)

// A patience is how long requests may be kept waiting for what they can do without.
type patience struct {
	least, most time.Duration // of a request, and of one that was refused before

	busy atomic.Int64 // until when the store is taken for busy, in nanoseconds since 1970; 0: it is free
}

// blocked notes that somebody has waited for the store in vain.
func (p *patience) blocked() { p.busy.Store(time.Now().Add(busyFor).UnixNano()) }

// isBlocked reports whether the store is taken for busy.
func (p *patience) isBlocked() bool {
	until := p.busy.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// judge notes what the end of a write says about the store.
func (p *patience) judge(err error) {
	switch {
	case errors.Is(err, store.ErrBusy):
		p.blocked()
	case err == nil && p.busy.Load() != 0:
		p.busy.Store(0)
	}
}

type patienceKey struct{}

// begin returns a context that knows until when a request may be kept waiting for what it can do without. One that
// was refused before can wait longer.
func (p *patience) begin(ctx context.Context, again bool) context.Context {
	wait := p.least
	if again {
		wait = p.most
	}
	return context.WithValue(ctx, patienceKey{}, time.Now().Add(wait))
}

// optional returns a context for work that the request can do without: it ends with the request's patience. What comes
// after a long computation gets some time all the same, for a store that is free needs little.
func (p *patience) optional(ctx context.Context) (context.Context, context.CancelFunc) {
	until, ok := ctx.Value(patienceKey{}).(time.Time)
	if !ok {
		return context.WithTimeout(ctx, p.least)
	}
	if t := time.Now().Add(p.least / 2); until.Before(t) {
		until = t
	}
	return context.WithDeadline(ctx, until)
}

// waiting returns a context for what has to wait when the store is locked: commits, and archives of others. Reading
// never does.
func (p *patience) waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.isBlocked() {
		return context.WithTimeout(ctx, min(p.least, brief))
	}
	return p.optional(ctx)
}

// tired reports whether a request has lost its patience.
func tired(ctx context.Context) bool {
	until, ok := ctx.Value(patienceKey{}).(time.Time)
	return ok && !time.Now().Before(until)
}
