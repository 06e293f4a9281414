package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// quiet is the share of all processors that other programs may use while processor time is judged.
const quiet = 0.1

// others returns what share of all processors is used while this program rests for a second, by the machine's host too.
func others() (float64, error) {
	busy, all, err := processors()
	if err != nil {
		return 0, err
	}
	time.Sleep(time.Second)
	busyNow, allNow, err := processors()
	if err != nil {
		return 0, err
	}
	return float64(busyNow-busy) / float64(max(1, allNow-all)), nil
}

// processors returns how many ticks all processors have worked and been there, as proc_stat(5) says.
func processors() (busy, all int, err error) {
	const file = "/proc/stat"
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, fmt.Errorf("%s begins with %q, not with the sum of all processors", file, line)
	}
	for i, f := range fields[1:9] { // what guests use, which comes behind, is counted in user
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", file, err)
		}
		all += n
		if i != 3 && i != 4 { // idle, and waiting for a disk
			busy += n
		}
	}
	return busy, all, nil
}
