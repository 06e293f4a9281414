package cost_test

import (
	"testing"
	"time"

	"github.com/decantdev/decant/internal/cost"
)

// What becomes of an entry is decided by the marker that finds or writes it, and by an entry that is alive: a
// shorter marker takes nothing from that one, a longer one lets it live longer, and what has expired gives
// nothing on.
func TestAnEntryLivesAsLongAsItsMarkersAsk(t *testing.T) {
	type step struct {
		after  time.Duration // since the step before
		marker string
		read   bool // the entry is found
	}
	const minute, hour = time.Minute, time.Hour
	for name, steps := range map[string][]step{
		"short": {{0, "5m", false}, {4 * minute, "5m", true}, {4 * minute, "5m", true},
			{5 * minute, "5m", false}},
		"long": {{0, "1h", false}, {59 * minute, "1h", true}, {59 * minute, "1h", true},
			{hour, "1h", false}},
		"a shorter marker takes nothing": {{0, "1h", false}, {4 * minute, "5m", true}, {50 * minute, "5m", true},
			{59 * minute, "5m", true}, {hour, "5m", false}},
		"a longer marker gives": {{0, "5m", false}, {4 * minute, "1h", true}, {50 * minute, "5m", true}},
		"expired, then shorter": {{0, "1h", false}, {hour, "5m", false}, {4 * minute, "5m", true},
			{6 * minute, "5m", false}},
		"long expired, then shorter": {{0, "1h", false}, {3 * hour, "5m", false}, {6 * minute, "5m", false}},
		"expired, then longer":       {{0, "5m", false}, {5 * minute, "1h", false}, {59 * minute, "1h", true}},
		"one after the other, as they write": {{0, "1h", false}, {hour, "5m", false}, {5 * minute, "1h", false},
			{6 * minute, "5m", true}},
	} {
		t.Run(name, func(t *testing.T) {
			c, at := cost.NewCache(model(t, "claude-sonnet-4-6")), day
			for i, s := range steps {
				at = at.Add(s.after)
				if u := c.Send(cost.Request{At: at, Blocks: many(0, 10, s.marker)}); (u.CacheRead == 10_000) != s.read ||
					u.CacheRead+u.CacheWrite != 10_000 {
					t.Errorf("request %d, %v later, marked %s: %+v, want it read: %v", i+1, s.after, s.marker, u, s.read)
				}
			}
		})
	}
}
