package testkit

import (
	"testing"
	"time"
)

// Patience is how long is waited: longer than anything takes on a busy machine, shorter than the time limit of a package.
const Patience = 2 * time.Minute

// often is how long a condition rests before it is looked at again.
const often = 2 * time.Millisecond

// Eventually returns when the condition is true, and fails the test if it never is. It calls the condition on the test's goroutine.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	EventuallyGot(t, what, func() (struct{}, bool) { return struct{}{}, condition() })
}

// EventuallyGot returns what get returns once that reports true, and fails the test if it never does.
func EventuallyGot[T any](t testing.TB, what string, get func() (T, bool)) T {
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
