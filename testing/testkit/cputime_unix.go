//go:build unix

package testkit

import (
	"syscall"
	"time"
)

// used returns the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for other arguments only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
