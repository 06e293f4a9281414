package tools

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// defaultMemory is how many bytes of memory the processes of a command may have together: half of the machine's.
func defaultMemory() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kb int64
	_, _ = fmt.Sscanf(string(data), "MemTotal: %d kB", &kb)
	return kb << 10 / 2
}

// tasks returns how many threads the machine has.
func tasks() (n int) {
	data, _ := os.ReadFile("/proc/loadavg") // 0.00 0.00 0.00 running/all newest
	if _, of, ok := bytes.Cut(data, []byte("/")); ok {
		of, _, _ = bytes.Cut(of, []byte(" "))
		n, _ = strconv.Atoi(string(of))
	}
	return n
}

// load returns how many processes a process has started, directly or not, and the memory of them that is theirs alone.
func load(pid int) (processes int, memory int64) {
	children := map[int][]int{}
	for child, parent := range parents() {
		children[parent] = append(children[parent], child)
	}
	page := int64(os.Getpagesize())
	for next := children[pid]; len(next) > 0; {
		at := next[len(next)-1]
		next = append(next[:len(next)-1], children[at]...)
		processes++
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", at))
		var size, resident, shared int64
		if _, err := fmt.Sscan(string(data), &size, &resident, &shared); err == nil {
			memory += (resident - shared) * page
		}
	}
	return processes, memory
}

// parents returns the parent of each process of the machine.
func parents() map[int]int {
	out := map[int]int{}
	proc, err := os.Open("/proc")
	if err != nil {
		return out
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + name + "/stat")
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // a name may hold anything
		if len(f) > 1 {
			out[pid], _ = strconv.Atoi(string(f[1]))
		}
	}
	return out
}
