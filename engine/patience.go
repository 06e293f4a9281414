package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/engine/internal/draft"
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
	"github.com/decantdev/decant/store"
)

// A store that another process keeps locked costs a request the time of its optional work, once, and those that
// follow hardly any: for some seconds it is known that there is no use in waiting.
const (
	busyFor = 5 * time.Second       // how long a store is taken for busy after somebody has waited in vain
	brief   = 50 * time.Millisecond // how long requests wait for it meanwhile
)

// busy knows until when the store is taken for busy. The zero value takes it for free.
type busy struct{ until atomic.Int64 } // nanoseconds since 1970

func (b *busy) note() { b.until.Store(time.Now().Add(busyFor).UnixNano()) }

func (b *busy) end() {
	if b.until.Load() != 0 {
		b.until.Store(0)
	}
}

func (b *busy) is() bool {
	until := b.until.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// judge notes what the end of a write says about the store.
func (b *busy) judge(err error) {
	switch {
	case err == nil:
		b.end()
	case errors.Is(err, store.ErrBusy):
		b.note()
	}
}

type patienceKey struct{}

// patient returns a context that knows until when a request may be kept waiting for what it can do without. One that
// was refused before can wait longer.
func (e *Engine) patient(ctx context.Context, f draft.Demand) context.Context {
	wait := e.opts.OptionalTimeout
	if f.Again {
		wait = e.opts.RequiredTimeout
	}
	return context.WithValue(ctx, patienceKey{}, time.Now().Add(wait))
}

// optional returns a context for work that the request can do without: it ends with the request's patience. What comes
// after a long computation gets some time all the same, for a store that is free needs little.
func (e *Engine) optional(ctx context.Context) (context.Context, context.CancelFunc) {
	until, ok := ctx.Value(patienceKey{}).(time.Time)
	if !ok {
		return context.WithTimeout(ctx, e.opts.OptionalTimeout)
	}
	if t := time.Now().Add(e.opts.OptionalTimeout / 2); until.Before(t) {
		until = t
	}
	return context.WithDeadline(ctx, until)
}

// waiting returns a context for what has to wait when the store is locked: commits, and archives of others. Reading
// never does.
func (e *Engine) waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.busy.is() {
		return context.WithTimeout(ctx, min(e.opts.OptionalTimeout, brief))
	}
	return e.optional(ctx)
}

// tired reports whether a request has lost its patience.
func tired(ctx context.Context) bool {
	until, ok := ctx.Value(patienceKey{}).(time.Time)
	return ok && !time.Now().Before(until)
}

// prepare makes one attempt after the other until no other request comes in between, or the request has been kept
// waiting for as long as it may. A panic in it is a fault like any other: the client's request goes out all the same.
func (e *Engine) prepare(ctx context.Context, req *Request, who lineage.Start, r *prompt.Prompt, force draft.Demand) (p *Prepared, err error) {
	defer e.caught(&err)
	ctx = e.patient(ctx, force)
	for n := range maxTries {
		p, err := e.try(ctx, req, who, r, force)
		if !errors.Is(err, store.ErrConflict) {
			return p, err
		}
		if errors.Is(err, errBehind) && (tired(ctx) || e.busy.is()) {
			e.busy.note()
			return nil, fmt.Errorf("archives of the conversation have not ended in time (tried %d times): %w", n+1, store.ErrBusy)
		}
	}
	return nil, fmt.Errorf("commit decisions: given up after %d tries: %w", maxTries, store.ErrConflict)
}
