package edge

import (
	"bytes"
	"math"
	"os"
	"strconv"

	"github.com/decantdev/decant/internal/config"
)

// The limits of what bodies may take in memory if nothing is configured.
const (
	leastBodies, mostBodies = 64 << 20, 2 << 30

	// largestBody is the most that one body may have. Long histories with images outgrow the 32 MB that the API
	// takes; what is sent of them does not.
	largestBody = 128 << 20

	// bodiesShare is the part of the memory that bodies may take. It is small because a body takes several times
	// its size while it is worked on.
	bodiesShare = 8
)

// BodyMemory returns how many bytes of bodies are held at once: as configured, or as the machine or the
// container has room.
func BodyMemory(c *config.Config) int64 {
	if c.Bodies > 0 {
		return int64(c.Bodies)
	}
	return min(max(memoryOf(os.ReadFile, installed)/bodiesShare, leastBodies), mostBodies)
}

// BodyLimit returns the size of the largest body that is managed: as configured, or half of the room for bodies.
func BodyLimit(c *config.Config) int64 {
	if c.BodyLimit > 0 {
		return int64(c.BodyLimit)
	}
	return min(BodyMemory(c)/2, largestBody)
}

// Backlog returns how many bytes answers may take while they wait for a slow database: a quarter of what bodies may
// take.
func Backlog(c *config.Config) int { return int(BodyMemory(c) / 4) }

// memoryOf returns the memory of the container or the machine in bytes. If neither tells, it returns the largest
// number. installed asks the system itself, where services do not see the file about the machine.
func memoryOf(read func(string) ([]byte, error), installed func() int64) int64 {
	least := int64(math.MaxInt64)
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := read(name); err == nil {
			least = min(least, number(text, 1))
		}
	}
	text, err := read("/proc/meminfo")
	if err != nil {
		return min(least, installed())
	}
	_, rest, _ := bytes.Cut(text, []byte("MemTotal:"))
	return min(least, number(rest, 1024))
}

// number returns the number at the beginning of a text, times a unit; without one it returns the largest number.
func number(text []byte, unit int64) int64 {
	text = bytes.TrimLeft(text, " \t")
	end := bytes.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	n, err := strconv.ParseInt(string(text[:end]), 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return math.MaxInt64
	}
	return n * unit
}
