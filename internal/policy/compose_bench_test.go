package policy_test

import (
	"context"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/testing/recorded"
)

// prepared returns options as an engine has them for a conversation that a pour is due for, and a segment
// that was prepared.
func prepared(tb testing.TB, c *decant.Conversation) (policy.PlanOptions, []decant.Segment) {
	tb.Helper()
	o := options(tb, "default")
	o.Target, o.Trigger, o.Limit = 30_000, 60_000, 64_000
	from, to, ok := policy.Stretch(context.Background(), c, o)
	if !ok {
		tb.Fatal("nothing to prepare")
	}
	seg, _, err := policy.WriteSegment(context.Background(), summariser(tale), c, o, from, to)
	if err != nil {
		tb.Fatal(err)
	}
	return o, []decant.Segment{seg}
}

// BenchmarkPropose plans a pour with and without segments that were prepared. To reach: less than 5 ms more with them.
func BenchmarkPropose(b *testing.B) {
	c := recorded.Session(b, recorded.Claude).Conversation
	o, segments := prepared(b, c)
	for _, v := range []struct {
		name     string
		segments []decant.Segment
	}{{"Extractive", nil}, {"Prepared", segments}} {
		b.Run(v.name, func(b *testing.B) {
			o.Segments = v.segments
			for b.Loop() {
				p, err := policy.Propose(context.Background(), c, o)
				if err != nil {
					b.Fatal(err)
				}
				if cp := decant.CheckpointIn(p.Plan.Decisions); (len(cp.Segments) > 0) != (v.segments != nil) ||
					(cp.Rung == decant.RungModel) != (v.segments != nil) {
					b.Fatalf("rung %s, %d segments, %v", cp.Rung, len(cp.Segments), p.Plan.Notes)
				}
			}
		})
	}
}
