package engine_test

import (
	"sync/atomic"
	"time"
)

// clock is a time that stands still until a test lets some pass. The engine may look at it in the background
// meanwhile.
type clock struct{ now atomic.Pointer[time.Time] }

func newClock(now time.Time) *clock {
	c := new(clock)
	c.now.Store(&now)
	return c
}

func (c *clock) Now() time.Time { return *c.now.Load() }

func (c *clock) pass(d time.Duration) {
	now := c.Now().Add(d)
	c.now.Store(&now)
}
