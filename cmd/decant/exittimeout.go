package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/decantdev/decant/internal/exit"
)

// After a signal to stop a process may drain, and then has this long to end by itself.
const (
	lateWarn = 3 * time.Second
	lateExit = 4500 * time.Millisecond
)

// endAfter ends the process if it has not ended by itself some seconds after the drain, no matter what it is doing: a
// supervisor would kill it anyway, and stored data does not need an orderly end.
func endAfter(ctx context.Context, drain time.Duration, log *slog.Logger) {
	context.AfterFunc(ctx, func() {
		time.AfterFunc(drain+lateWarn, func() {
			log.Error("still at work after the drain; what was not archived comes back with the clients' next requests")
		})
		time.AfterFunc(drain+lateExit, func() { os.Exit(exit.Failed) })
	})
}
