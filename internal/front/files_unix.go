//go:build unix

package front

import (
	"math"
	"syscall"
)

// mostConnections returns how many connections there may be in this process.
func mostConnections() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return connections(math.MaxUint64)
	}
	return connections(uint64(l.Cur))
}
