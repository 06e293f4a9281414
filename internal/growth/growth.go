// Package growth holds work to the number of things that it is about, for tests: twice as many take about twice as long.
package growth

import (
	"testing"
	"time"
)

const (
	times = 64 // how many times more things there are
	most  = 8  // times longer than the same things in parts: caches and the collector take their share
	tries = 3
)

// Linear fails a test whose work on 64n things takes far longer than 64 times its work on n things. prepare returns the work
// on a number of things; it is done more than once. Both sides take about as long where all is well, so that whatever else
// the machine does weighs on both.
func Linear(t testing.TB, n int, prepare func(n int) (work func())) {
	t.Helper()
	part, whole := prepare(n), prepare(times*n)
	part() // what is done once for all
	var parts, all time.Duration
	for range tries {
		parts = took(func() {
			for range times {
				part()
			}
		})
		if all = took(whole); all < most*parts {
			return
		}
	}
	t.Errorf("%d things at once take %.0f times as long as %d times %d: the work grows with the square of their number", times*n, all.Seconds()/parts.Seconds(), times, n)
}

func took(work func()) time.Duration {
	begun := time.Now()
	work()
	return time.Since(begun)
}
