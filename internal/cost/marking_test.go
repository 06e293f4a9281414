package cost_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/internal/cost"
)

// answer plays a request of so many tokens whose cache holds some, at a dollar for a token, a quarter more
// for one that is written and a tenth for one that is read.
func answer(m *cost.Marking, size, cached int) (paid float64) {
	r := cost.Marked{Plain: float64(size), Paid: float64(size), Risk: 0.25 * float64(size), Size: size, Added: m.Marks()}
	if r.Added {
		r.Read = min(cached, size)
		r.Paid = 0.1*float64(r.Read) + 1.25*float64(size-r.Read)
	}
	m.Answered(r)
	return r.Paid
}

// Whatever a client does whose prompts grow, added markers cost at most a fiftieth of what its requests would
// have cost, and what writing two of them costs too much.
func TestMarkingIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var m cost.Marking
		with, without, size, left := 0.0, 0.0, rapid.IntRange(100, 10_000).Draw(rt, "size"), 0
		for i := range rapid.IntRange(1, 80).Draw(rt, "requests") {
			cached := rapid.SampledFrom([]int{0, 0, left / 3, left}).Draw(rt, "still there")
			marks := m.Marks()
			with, without = with+answer(&m, size, cached), without+float64(size)
			if left = 0; marks {
				left = size
			}
			if with > (1+cost.MarkingShare)*without+2*0.25*float64(size)+1e-6 {
				rt.Fatalf("request %d: %.3f with, %.3f without", i+1, with, without)
			}
			size += rapid.IntRange(0, 2*size).Draw(rt, "more")
			size = min(size, 1_000_000)
		}
	})
}

// A client whose cache is always cold is marked now and then, one whose prompts are read always.
func TestMarkingLearns(t *testing.T) {
	for _, tt := range []struct {
		name string
		warm bool
		want int // marked of 100
	}{{"NeverRead", false, 6}, {"AlwaysRead", true, 100}} {
		t.Run(tt.name, func(t *testing.T) {
			var m cost.Marking
			marked := 0
			for n := range 100 {
				if m.Marks() {
					marked++
				}
				cached := 0
				if tt.warm {
					cached = 1000 * n
				}
				answer(&m, 1000*(n+1), cached)
			}
			if marked < tt.want-2 || marked > tt.want {
				t.Errorf("%d of 100 requests are marked, want %d", marked, tt.want)
			}
		})
	}
}
