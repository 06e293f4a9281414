package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/decantdev/decant/internal/process"
)

// A countdown shows on a terminal, in one line and every second, the progress of long work on files and how long
// it will take. It goes by the size of the files and by how many of the equal steps of each are done.
type countdown struct {
	w     io.Writer // nil: nobody watches
	start time.Time
	sizes []int64
	steps int
	stop  chan struct{}
	ended sync.WaitGroup

	mu       sync.Mutex
	all      int64
	ready    int64   // of the files that are done
	under    []int64 // of each file under way, 0 when it is done
	finished int
	shown    bool
}

func newCountdown(s *process.Process, files []string, steps int) *countdown {
	c := &countdown{start: time.Now(), steps: max(1, steps), stop: make(chan struct{}), under: make([]int64, len(files))}
	for _, f := range files {
		n := int64(1)
		if info, err := os.Stat(f); err == nil {
			n += info.Size()
		}
		c.sizes = append(c.sizes, n)
		c.all += n
	}
	if s.Terminal {
		c.w = s.Err
		c.ended.Go(c.watch)
	}
	return c
}

// watch writes the line until the work is done.
func (c *countdown) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-c.stop:
			return
		case now := <-tick.C:
			c.mu.Lock()
			process.Control(c.w, fmt.Sprintf("\r%s\x1b[K", c.line(now.Sub(c.start))))
			c.shown = true
			c.mu.Unlock()
		}
	}
}

// line describes the progress after so long.
func (c *countdown) line(spent time.Duration) string {
	done := c.ready
	for _, n := range c.under {
		done += n
	}
	out := fmt.Sprintf("played %d of %d sessions in %d s", c.finished, len(c.sizes), int(spent.Seconds()))
	if done == 0 {
		return out
	}
	left := time.Duration(float64(spent) * float64(c.all-done) / float64(done))
	return fmt.Sprintf("%s, about %d s left", out, int(left.Seconds()))
}

// step records that one more step of a file is done.
func (c *countdown) step(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under[i] = min(c.sizes[i], c.under[i]+c.sizes[i]/int64(c.steps))
}

// done records that a file is done.
func (c *countdown) done(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under[i] = 0
	c.ready += c.sizes[i]
	c.finished++
}

// end removes the line.
func (c *countdown) end() {
	close(c.stop)
	c.ended.Wait()
	if c.shown {
		process.Control(c.w, "\r\x1b[K")
	}
}
