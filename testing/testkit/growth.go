package testkit

import (
	"testing"
	"time"
)

const (
	times = 64 // how many times more things there are
	most  = 8  // times the same things in parts: caches and the collector take their share
	tries = 3
)

// Linear fails a test whose work on 64n things takes far more of the processor than 64 times its work on n things. prepare
// returns the work on a number of things; it is done more than once. What else the machine does counts on neither side: the
// time is that of the process, in which nothing else may run meanwhile.
func Linear(t testing.TB, n int, prepare func(n int) (work func())) {
	t.Helper()
	part, whole := prepare(n), prepare(times*n)
	part() // what is done once for all
	var parts, all time.Duration
	for range tries {
		parts = cpuTook(func() {
			for range times {
				part()
			}
		})
		if all = cpuTook(whole); all < most*parts {
			return
		}
	}
	t.Errorf("%d things at once take %.0f times the processor time of %d times %d: the work grows with the square of their number", times*n, all.Seconds()/parts.Seconds(), times, n)
}

func cpuTook(work func()) time.Duration {
	before := used()
	work()
	return used() - before
}
