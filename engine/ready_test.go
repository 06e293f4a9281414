package engine_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/testkit"
)

// planned reports whether the last pour of a dialogue took a plan that was made before it was due.
func planned(k *dialogue) bool {
	return slices.ContainsFunc(k.last.Report.Plan.Notes, func(s string) bool { return strings.Contains(s, "before it was due") })
}

// A pour takes the plan that was made behind the request before, and sends about what it would have sent had it been
// planned at once: as much of the exact strings with their context, in as many tokens. The same request is sent the same
// again.
func TestAPourTakesThePlanThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, n := nearing(t, engine.Options{})
		n = untilPoured(k, n)
		once, m := nearing(t, engine.Options{Preset: foreground(t)})
		if untilPoured(once, m) != n {
			t.Fatal("the pours do not come at the same time")
		}
		if !planned(k) || planned(once) {
			t.Fatalf("planned ahead %v, and with nothing prepared %v", planned(k), planned(once))
		}
		got, want := k.last.Report.Plan, once.last.Report.Plan
		if got.Score < want.Score-.05 || k.last.Report.After > once.last.Report.After+1500 || got.Before != want.Before {
			t.Errorf("score %.3f, %.3f at once; %d tokens, %d at once; of %v, %v at once",
				got.Score, want.Score, k.last.Report.After, once.last.Report.After, got.Before, want.Before)
		}
		if a, b := decant.CheckpointIn(got.Decisions), decant.CheckpointIn(want.Decisions); a.Score < b.Score-.05 {
			t.Errorf("the record holds %.3f of the exact strings, %.3f at once", a.Score, b.Score)
		}
		was := k.last.Body
		k.prepare()
		if !bytes.Equal(k.last.Body, was) {
			t.Error("the same request is sent another view")
		}
	})
}

// A plan is not taken when what it covers has changed, when somebody has pinned something of it meanwhile, or when another
// model is asked. The pour is then planned at once.
func TestAStalePlanIsNotTaken(t *testing.T) {
	for name, change := range map[string]func(k *dialogue){
		"Changed": func(k *dialogue) { k.ms[2] = strings.Replace(k.ms[2], "line 1:", "line one:", 1) },
		"Model":   func(k *dialogue) { k.model = "claude-opus-4-5" },
		"More": func(k *dialogue) {
			k.round(90, output("call_90", 20))
			k.round(91, output("call_91", 133))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, n := nearing(t, engine.Options{})
				advance(k, n)
				if k.last.Report.Reason != "" {
					t.Fatal("poured already")
				}
				change(k)
				for n++; k.last.Report.Reason == "" && n < 60; n++ {
					k.round(n, output("call_x", 100))
					k.prepare()
				}
				if k.last.Report.Plan == nil || k.last.Fault != nil || planned(k) {
					t.Errorf("plan %v, fault %v", k.last.Report.Plan != nil, k.last.Fault)
				}
			})
		})
	}
}

// However many requests of a conversation come at once, one plan is made of it at a time, and the pour is the same for all.
func TestOnePlanForManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, n := nearing(t, engine.Options{})
		for ; k.last.Report.Reason == "" && n < 60; n++ {
			for range 4 {
				go func(body []byte) {
					if p, err := k.engine.Prepare(t.Context(), &engine.Request{Session: k.session, Body: body}); err == nil {
						k.engine.Finish(p, engine.Response{Status: 200, Broken: true})
					}
				}(k.body())
			}
			advance(k, n)
		}
		if k.last.Report.Reason == "" || k.last.Fault != nil {
			t.Errorf("no pour, fault %v", k.last.Fault)
		}
	})
}

// Where a preset counts the messages that stay, as many stay behind a checkpoint, and at most one more where a round would be cut: whatever
// the size of results, and however near the pour was when the request before came.
func TestAsManyMessagesStayAsThePresetSays(t *testing.T) {
	for _, base := range testkit.Depth([]string{"orchestrator", "coding-session-50"}, []string{"orchestrator", "coding-session", "coding-session-50", "chat", "agent-loop", "night-watch"}) {
		for _, hundreds := range testkit.Depth([]int{25, 60}, []int{10, 25, 60, 120}) {
			t.Run(fmt.Sprintf("%s, results of %d characters", base, 100*hundreds), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					set, err := preset.Parse("counted", fmt.Appendf(nil, "name: counted\nabout: As small as a test.\nbase: %s\ntrigger: {tokens: 20000, messages: 0}\nsummary: {ahead: 10000}\n", base))
					if err != nil {
						t.Fatal(err)
					}
					k := newDialogue(t, engine.Options{Preset: set, Window: 60_000, NoEarlyPours: true, ArchiveDelay: -1})
					k.user("Do the work.")
					var cp *decant.Checkpoint
					for n := 1; cp == nil && n < 120; n++ {
						k.round(n, output(fmt.Sprintf("call_%d", n), hundreds))
						k.prepare()
						finish(k)
						cp = decant.CheckpointIn(k.last.Report.Decisions)
					}
					if cp == nil || k.last.Fault != nil {
						t.Fatalf("no checkpoint, fault %v", k.last.Fault)
					}
					if kept, want := len(k.ms)-cp.To, set.Keep.Messages; kept < want || kept > want+1 {
						t.Errorf("%d messages stay, want %d", kept, want)
					}
				})
			})
		}
	}
}
