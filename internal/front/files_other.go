//go:build !unix

package front

import "math"

// mostConnections returns how many connections there may be in this process.
func mostConnections() int { return connections(math.MaxUint64) }
