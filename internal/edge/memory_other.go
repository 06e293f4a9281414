//go:build !linux

package edge

import "math"

// installed returns the largest number: this system does not say how much memory it has.
func installed() int64 { return math.MaxInt64 }
