package main

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// tendMemory keeps the process small while a thousand streams wait: up to a size it lets memory fill
// as Go likes, above it it collects more often, and the size follows what is really in use, so that
// collecting never becomes the main work. It sets no size when GOMEMLIMIT does. When it has become quiet
// after a peak, it gives back to the system what is not in use.
func tendMemory(ctx context.Context) {
	limited := debug.SetMemoryLimit(-1) != math.MaxInt64
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	var t tide
	for {
		now := readMemory()
		if !limited {
			debug.SetMemoryLimit(memoryLimit(now.live))
		}
		if t.ebbs(now) {
			debug.FreeOSMemory()
			t.gave(readMemory())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// memoryLimit returns the size, in bytes, above which to collect more often, for what is in use.
func memoryLimit(live int64) int64 { return max(320<<20, live/2*3+64<<20) }

// A memoryUse is how much memory the process has at a time, in bytes.
type memoryUse struct {
	live   int64 // that the last collection found in use
	held   int64 // from the system
	made   int64 // that was ever asked for
	cycles int64 // collections so far
}

func readMemory() memoryUse {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(s)
	n := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return memoryUse{live: n(0), held: n(1) - n(2), made: n(3), cycles: n(4)}
}

// A tide tells when memory should be given back. While there is much to do Go does that by itself, as fast as is
// good for the work; but it goes by its last collection, and when little is left to do there is none for minutes.
type tide struct {
	last  memoryUse
	made  int64 // when memory was given back last
	ticks int   // since then
}

const (
	leastHeld  = 64 << 20 // bytes that may be held for nothing
	leastMade  = 4 << 20  // bytes: where less was asked for nothing has happened
	leastTicks = 6        // from one time to the next, since it takes work
)

// ebbs reports whether it has become quiet since it was asked last, so that memory should be given back.
func (t *tide) ebbs(now memoryUse) bool {
	quiet := now.cycles == t.last.cycles
	t.last = now
	t.ticks++
	return quiet && t.ticks >= leastTicks && now.held > leastHeld && now.made > t.made+leastMade
}

// gave notes that memory was given back.
func (t *tide) gave(now memoryUse) { *t = tide{last: now, made: now.made} }
