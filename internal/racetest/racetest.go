// Package racetest keeps the run with the race detector short.
package racetest

import "testing"

// SkipSequential skips a long test while the race detector watches. It is for tests in which one thing happens after the
// other, where the detector has nothing to find and makes everything take many times as long; they are run without it.
func SkipSequential(t testing.TB) {
	t.Helper()
	if enabled {
		t.Skip("one thing after the other: nothing for the race detector")
	}
}
