package engine_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A counting is a dialogue whose provider counts so many times what is estimated.
type counting struct {
	*dialogue
	times     float64
	estimator *token.Estimator
	counted   int // of the newest request
}

// step goes on by one round, and returns by which share of it the engine takes what has come for too large.
func (c *counting) step(n int) (off float64) {
	c.Helper()
	c.round(n, output(fmt.Sprintf("call_%d", n), 50))
	p := c.prepare()
	now := int(c.times * float64(c.estimator.Conversation(p.View()).Total()))
	off = float64(p.Report.After-now) / float64(now-c.counted)
	c.counted = now
	c.engine.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: now, Output: 40}, Content: []byte(`[{"type":"text","text":"noted"}]`), Stop: "end_turn"})
	c.engine.Close() // so that the next request knows of the usage
	return off
}

// A provider that counts otherwise than is estimated changes what is measured from then on: of what has come since its newest report,
// and of a whole view about which it has reported nothing. One that counts as is estimated changes nothing.
func TestMeteringFollowsTheProvidersCounter(t *testing.T) {
	const rounds = 16
	model, _ := catalog().Lookup("claude-sonnet-4-5")
	whole := map[float64]int{}
	for _, times := range []float64{0.6, 1, 1.6} {
		k := newDialogue(t, engine.Options{})
		k.start(engine.Options{NoEarlyPours: true, Window: 400_000})
		k.user("Do the work.")
		c := &counting{dialogue: k, times: times, estimator: token.For(model)}
		c.step(0)
		first, last := math.Abs(c.step(1)), 0.0
		for n := 2; n < rounds; n++ {
			last = math.Abs(c.step(n))
		}
		if surprised := first > 0.2; surprised != (times != 1) || last > max(first/2, 0.02) {
			t.Errorf("%g times: %.3f off at first, %.3f in the end", times, first, last)
		}
		change, err := k.engine.Pause(t.Context(), store.Key{ID: k.last.Conversation})
		if err != nil {
			t.Fatal(err)
		}
		whole[times] = change.Plan.Before.Messages
	}
	for times, n := range whole {
		if share := float64(n) / (times * float64(whole[1])); share < 0.75 || share > 1.35 {
			t.Errorf("%g times: a whole view is measured as %d tokens, %.2f of what is counted", times, n, share)
		}
	}
}
