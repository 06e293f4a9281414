package decant_test

import (
	"slices"
	"testing"
	"time"

	"github.com/decantdev/decant"
)

// What stands behind a summary and is older than it was kept; what has no time was said afterwards.
func TestKept(t *testing.T) {
	at := func(minutes ...int) (ms []decant.Message) {
		for i, n := range minutes {
			m := decant.Message{Number: i + 1}
			if n > 0 {
				m.Time = time.Unix(int64(n)*60, 0)
			}
			ms = append(ms, m)
		}
		return ms
	}
	for _, c := range []struct {
		compacted bool
		minutes   []int
		want      []bool
	}{
		{true, []int{10, 3, 9, 11, 12}, []bool{false, true, true, false, false}},
		{true, []int{2, 10, 3, 9, 11}, []bool{false, false, true, true, false}}, // a message stays in front of the summary
		{true, []int{10, 0, 9, 11}, []bool{false, false, true, false}},
		{true, []int{0, 1, 2}, []bool{false, false, false}},
		{false, []int{10, 3, 9}, []bool{false, false, false}},
		{false, nil, nil},
	} {
		ms := at(c.minutes...)
		if c.compacted {
			ms[0].Compaction = true
		}
		if got := decant.Kept(ms); !slices.Equal(got, c.want) {
			t.Errorf("times %v: %v, want %v", c.minutes, got, c.want)
		}
	}
}
