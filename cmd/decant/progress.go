package main

import (
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/report"
)

// working runs f. If it takes over a second and standard error is a terminal, working says there what is
// being done and for how long.
func (s *streams) working(what string, f func() error) error {
	if !s.terminal {
		return f()
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	start := time.Now()
	shown := false
	for {
		select {
		case err := <-done:
			if shown {
				control(s.err, "\r\x1b[K")
			}
			return err
		case <-tick.C:
			control(s.err, fmt.Sprintf("\r%s, %d s ", report.Visible(what), int(time.Since(start).Seconds())))
			shown = true
		}
	}
}
