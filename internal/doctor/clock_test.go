package doctor

import (
	"testing"
	"time"
)

// An answer that takes long does not make a clock wrong.
func TestOffsetOfClocks(t *testing.T) {
	there := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // of what is up to a second later
	at := func(ms int) time.Time { return there.Add(time.Duration(ms) * time.Millisecond) }
	for _, c := range []struct {
		name       string
		begin, end int // milliseconds after there
		want       time.Duration
	}{
		{"WithinTheSecond", 100, 900, 0},
		{"SlowAnswer", -200, 20_000, 0},
		{"SlowRequest", -20_000, 10, 0},
		{"TwoAhead", 3_000, 3_100, 2 * time.Second},
		{"TwoBehind", -2_100, -2_000, -2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := offset(there, at(c.begin), at(c.end)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
