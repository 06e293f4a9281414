package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/provider"
)

// An unanswered is who is asked for calls that keep a cache warm, and fails.
type unanswered struct {
	err   error
	calls int
}

func (r *unanswered) Ask(context.Context, owncalls.Cause, *provider.Request) (*provider.Answer, error) {
	r.calls++
	return nil, r.err
}

// A call that has failed is the last one of its pause. What may have been paid for it counts, so that calls that
// are never answered end; what was refused has cost nothing, and is tried again in the next pause.
func TestAFailedCallEndsItsPause(t *testing.T) {
	const pauses = 12
	for name, c := range map[string]struct {
		err  error
		most int
	}{
		"Refused":  {errors.New("overloaded"), pauses},
		"TimedOut": {context.DeadlineExceeded, pauses / 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				by := &unanswered{err: c.err}
				k := newResting(t, "", engine.Options{NoEarlyPours: true, Models: engine.Models{Warmer: by}})
				k.play(breaks(pauses, 20*time.Minute)) // time for four
				if by.calls < 2 || by.calls > c.most {
					t.Errorf("%d calls in %d pauses, want from 2 to %d", by.calls, pauses, c.most)
				}
			})
		})
	}
}
