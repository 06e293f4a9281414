package plan

import (
	"testing"
	"testing/synctest"
	"time"
)

// A write may wait for others as long as any; for what it writes itself it has time by its size, within what a request may take.
func TestLargeWritesHaveMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Deadlines{Least: time.Second, Most: 20 * time.Second}
		for entries, want := range map[int]time.Duration{0: time.Second, 10_000: 2 * time.Second, 10_000_000: 21 * time.Second} {
			ctx, cancel := d.ForWrite(d.Begin(t.Context(), false), entries)
			if until, _ := ctx.Deadline(); time.Until(until) != want {
				t.Errorf("%d entries may take %v, want %v", entries, time.Until(until), want)
			}
			cancel()
		}
	})
}
