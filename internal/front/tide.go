package front

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// tendMemory keeps the process small while a thousand streams wait. Up to a limit, memory grows as Go
// likes; above it Go collects more often. The limit follows what is in use, so that collecting never
// becomes the main work. If GOMEMLIMIT sets a limit, tendMemory sets none. When it is quiet after a peak,
// it returns unused memory to the system.
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

// memoryLimit returns the limit, in bytes, for a given amount of memory in use.
func memoryLimit(live int64) int64 { return max(320<<20, live/2*3+64<<20) }

// A memoryUse is how much memory the process has at a time, in bytes.
type memoryUse struct {
	live   int64 // found in use by the last collection
	held   int64 // from the system
	made   int64 // allocated since the start
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

// A tide tells when to return memory to the system. While there is much to do, Go does that by itself, at a good pace.
// But Go decides at a collection, and when little is left to do, none happens for minutes.
type tide struct {
	last  memoryUse
	made  int64 // when memory was given back last
	ticks int   // since then
}

const (
	leastHeld  = 64 << 20 // bytes that may be held for nothing
	leastMade  = 4 << 20  // bytes; fewer allocated bytes mean that nothing has happened
	leastTicks = 6        // from one time to the next, since it takes work
)

// ebbs reports whether it has become quiet since the last call, so that memory should be returned.
func (t *tide) ebbs(now memoryUse) bool {
	quiet := now.cycles == t.last.cycles
	t.last = now
	t.ticks++
	return quiet && t.ticks >= leastTicks && now.held > leastHeld && now.made > t.made+leastMade
}

// gave notes that memory was given back.
func (t *tide) gave(now memoryUse) { *t = tide{last: now, made: now.made} }
