package policy_test

import (
	"context"
	"testing"

	"github.com/decantdev/decant/internal/fact"
	"github.com/decantdev/decant/internal/recall"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// At 20% of its size a session had kept 54% of what it must keep, at 10% it had kept 85%.
func TestMoreRoomNeverKeepsLess(t *testing.T) {
	for _, name := range []string{recorded.Claude, recorded.Codex} {
		t.Run(name, func(t *testing.T) {
			c := recorded.Session(t, name).Conversation
			must := fact.Extract(context.Background(), c.Messages)
			var keptBefore, recallBefore float64
			for _, percent := range testkit.Depth([]int{10, 60}, []int{10, 15, 20, 30, 40, 60}) {
				o := options(t, "default")
				o.Record = true
				o.Target = token.For(o.Model).Messages(c.Messages) * percent / 100
				plan, view := planned(t, c, o)
				text := wire.Text(view)
				kept, said := fact.Check(context.Background(), must, text).Score, recall.Of(context.Background(), c.Messages,
					text).Score
				t.Logf("%d%%: %d of %d tokens, %.3f of the facts, %.3f of the exact strings", percent, plan.After.Messages,
					o.Target, kept, said)
				// Lines are chosen whole, so that a name more or less may stand on those that fit.
				if kept < keptBefore-.01 || said < recallBefore-.01 {
					t.Errorf("at %d%%: %.3f of the facts and %.3f of the exact strings, with less room %.3f and %.3f", percent,
						kept, said, keptBefore, recallBefore)
				}
				keptBefore, recallBefore = max(kept, keptBefore), max(said, recallBefore)
			}
			if keptBefore < .98 {
				t.Errorf("%.3f of the facts at 60%%", keptBefore)
			}
		})
	}
}

// Where the conversation goes on by itself, what is left of the target is room for what comes next.
func TestNothingIsPutBackWhereTheConversationGoesOn(t *testing.T) {
	c := recorded.Session(t, recorded.Claude).Conversation
	o := options(t, "default")
	o.Record = true
	for _, percent := range testkit.Depth([]int{30, 60}, []int{30, 40, 50, 60}) {
		o.Target = token.For(o.Model).Messages(c.Messages) * percent / 100
		o.Trigger = 0
		file, _ := planned(t, c, o)
		o.Trigger = 100_000
		live, _ := planned(t, c, o)
		if file.After.Messages < live.After.Messages {
			t.Errorf("at %d%%: a file gets %d tokens, a conversation that goes on %d", percent, file.After.Messages,
				live.After.Messages)
		}
	}
}
