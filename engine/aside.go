package engine

import (
	"context"
	"sync"
	"time"
)

// backgroundTimeout is how long one piece of work may take that no request waits for.
const backgroundTimeout = 3 * time.Minute

// Background is work that no request waits for: calls of our own to a model, which take their time.
type background struct {
	work   sync.WaitGroup
	failed func(error)
	caught func(*error) // a panic
	life   context.Context
	end    context.CancelFunc
}

func newBackground(failed func(error), caught func(*error)) *background {
	a := &background{failed: failed, caught: caught}
	a.life, a.end = context.WithCancel(context.Background())
	return a
}

// do begins a piece of work, which must return when its context is done.
func (a *background) do(work func(context.Context) error) {
	a.work.Go(func() { a.failed(a.try(work)) })
}

// try does a piece of work.
func (a *background) try(work func(context.Context) error) (err error) {
	defer a.caught(&err)
	ctx, cancel := context.WithTimeout(a.life, backgroundTimeout)
	defer cancel()
	return work(ctx)
}

// close waits for the work under way for at most so long, and then ends it.
func (a *background) close(wait time.Duration) {
	last := time.AfterFunc(wait, a.end)
	defer last.Stop()
	a.work.Wait()
	a.end()
}
