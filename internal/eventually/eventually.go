// Package eventually is the one way in which tests wait for what another process, connection or goroutine brings about.
//
// A test that waits here does not know how fast the machine is: it goes on as soon as it can, and gives up only after
// minutes, when nothing will happen any more. Where all that is waited for is in one process and needs no network, use
// testing/synctest, which does not wait at all.
package eventually

import (
	"testing"
	"time"
)

// Patience is how long is waited: longer than anything takes on a busy machine, shorter than the time limit of a package.
const Patience = 2 * time.Minute

// often is how long a condition rests before it is looked at again.
const often = 2 * time.Millisecond

// True returns when the condition is true, and fails the test if it never is. It calls the condition on the test's goroutine.
func True(t testing.TB, what string, condition func() bool) {
	t.Helper()
	Got(t, what, func() (struct{}, bool) { return struct{}{}, condition() })
}

// Got returns what get returns once that reports true, and fails the test if it never does.
func Got[T any](t testing.TB, what string, get func() (T, bool)) T {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(often) {
		v, ok := get()
		if ok {
			return v
		}
		if time.Since(begun) > Patience {
			t.Fatalf("not after %v: %s", Patience, what)
		}
	}
}

// Received returns the next value of a channel, or the zero value once it is closed, and fails the test if neither comes.
func Received[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(Patience):
		t.Fatalf("not after %v: %s", Patience, what)
		panic("unreachable")
	}
}
