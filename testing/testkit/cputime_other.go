//go:build !unix

package testkit

import "time"

var started = time.Now()

// used returns the time that has passed, where nobody says how much of it this process had.
func used() time.Duration { return time.Since(started) }
