package edge

import (
	"math"
	"syscall"
)

// installed returns the memory of the machine in bytes. If the system does not tell, it returns the largest number.
func installed() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return math.MaxInt64
	}
	return int64(info.Totalram) * int64(info.Unit)
}
