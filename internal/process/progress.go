package process

import (
	"fmt"
	"time"

	"github.com/decantdev/decant/internal/report"
)

// Working runs f. If it takes over a second and standard error is a terminal, Working says there what is
// being done and for how long.
func (s *Process) Working(what string, f func() error) error {
	if !s.Terminal {
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
				Control(s.Err, "\r\x1b[K")
			}
			return err
		case <-tick.C:
			Control(s.Err, fmt.Sprintf("\r%s, %d s ", report.Visible(what), int(time.Since(start).Seconds())))
			shown = true
		}
	}
}
