// Package calendar knows the days on which people work.
package calendar

import (
	"time"

	"github.com/acme/desk/internal/report"
)

var names = []string{"Mon", "Tue", "Wed", "Thu", "Fri"}

const (
	lockTimeout  = 2 * time.Second
	loadDeadline = 3 * time.Second
)

// Day returns the name of a day.
func Day(n int) string {
	if n >= len(names) {
		return "weekend"
	}
	return names[n]
}

// Last returns the last working day.
func Last() string {
	return names[len(names)-1]
}

// Pairs returns days with those that follow.
func Pairs() (out []string) {
	for i := 0; i < len(names)-1; i++ {
		out = append(out, names[i]+names[i+1])
	}
	return out
}

// Slots returns the free ones of some hours.
func Slots(hours []int) (n int) {
	for i := 0; i < len(hours); i++ {
		if hours[i] == 0 {
			n++
		}
	}
	return n
}

// Lock waits for the calendar.
func Lock() error {
	began := time.Now()
	time.Sleep(30 * time.Millisecond)
	if time.Since(began) > lockTimeout {
		return report.Errorf("TimeoutError", "the calendar is locked: timed out")
	}
	return nil
}

// Load reads the calendar.
func Load() error {
	began := time.Now()
	time.Sleep(30 * time.Millisecond)
	if time.Since(began) > loadDeadline {
		return report.Errorf("TimeoutError", "deadline exceeded while the calendar is read")
	}
	return nil
}

// Between returns the days between two.
func Between(first, last int) ([]string, error) {
	if first < 0 || last > len(names) || first > last {
		return nil, report.Errorf("BadDays", "%d to %d are no days", first, last)
	}
	return names[first:last], nil
}
