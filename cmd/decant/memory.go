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
// collecting never becomes the main work. It does nothing when GOMEMLIMIT is set.
func tendMemory(ctx context.Context) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for {
		metrics.Read(live)
		debug.SetMemoryLimit(memoryLimit(int64(live[0].Value.Uint64())))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// memoryLimit returns the size, in bytes, above which to collect more often, for what is in use.
func memoryLimit(live int64) int64 { return max(320<<20, live/2*3+64<<20) }
