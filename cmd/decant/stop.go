package main

import (
	"context"
	"log/slog"
	"os"
	"time"
)

// After a signal to stop a process may drain, and then has so long to end by itself.
const (
	lateWarn = 3 * time.Second
	lateExit = 4500 * time.Millisecond
)

// endAfter ends the process when it has not ended by itself some seconds after it could have been drained,
// whatever it is doing then: what supervises it would kill it, and what is stored does not need an orderly end.
func endAfter(ctx context.Context, drain time.Duration, log *slog.Logger) {
	context.AfterFunc(ctx, func() {
		time.AfterFunc(drain+lateWarn, func() {
			log.Error("still at work after the drain; what was not archived comes back with the clients' next requests")
		})
		time.AfterFunc(drain+lateExit, func() { os.Exit(exitOther) })
	})
}
