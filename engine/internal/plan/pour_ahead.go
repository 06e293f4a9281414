package plan

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/decantdev/decant"
)

// aheadOf returns what was written ahead for the conversation of a request, nil when it is not stored yet.
func aheadOf(in *Input) *Segments {
	if in.Match == nil || in.Match.Stored == nil {
		return nil
	}
	return &CachedOf(in.Match.Stored).Ahead
}

// segmentsOf returns what models wrote about a draft's conversation: for its newest checkpoint, and since.
func segmentsOf(dr *Draft) (out []decant.Segment) {
	if cp := decant.CheckpointIn(dr.InForce); cp != nil {
		out = slices.Clip(cp.Segments)
	}
	if a := aheadOf(dr.Input); a != nil {
		out = append(out, a.Segments()...)
	}
	return out
}

// await waits for a segment that is being written ahead of a pour. It reports whether it is still not written then.
func await(ctx context.Context, in *Input, most time.Duration) (unwritten bool) {
	a := aheadOf(in)
	if a == nil {
		return false
	}
	running := a.Running()
	if running == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	select {
	case <-running:
		return false
	case <-ctx.Done():
		return true
	}
}

// writtenAhead returns notes on the newest of those segments of a plan's checkpoint that were written ahead of the pour,
// none when there are none.
func writtenAhead(a *Segments, plan *decant.Plan) []string {
	cp := decant.CheckpointIn(plan.Decisions)
	if a == nil || cp == nil {
		return nil
	}
	for _, s := range slices.Backward(cp.Segments) {
		asked, ok := a.Asked(s)
		if !ok {
			continue
		}
		by := ""
		if s.Model != "" {
			by = " by " + s.Model
		}
		return append([]string{fmt.Sprintf("the summary of m%d to m%d was written%s before the pour was due", s.From, s.To, by)}, asked...)
	}
	return nil
}
