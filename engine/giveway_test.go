package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
)

// parallel appends one answer with so many calls and their results.
func (k *dialogue) parallel(calls int, result string) {
	var uses, results []string
	for i := range calls {
		uses = append(uses, fmt.Sprintf(`{"type":"tool_use","id":"par_%d","name":"Bash","input":{"command":"step %d"}}`, i, i))
		results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"par_%d","content":%s}`, i, quote(fmt.Sprintf("result %d\n%s", i, result))))
	}
	k.ms = append(k.ms, `{"role":"assistant","content":[`+strings.Join(uses, ",")+`]}`, `{"role":"user","content":[`+strings.Join(results, ",")+`]}`)
}

// To get under the preset's 80,000 tokens the fresh results of the open round were cut by three
// quarters, in a window of 200,000. They give way only where the window demands it; what stands before them is
// summarised all the same.
func TestFreshResultsGiveWayOnlyToTheWindow(t *testing.T) {
	set, err := preset.Load("agent-loop")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		window  int
		before  int // rounds of 2,000 tokens
		cut     bool
		covered bool
	}{
		{"OneRound", 200_000, 0, false, false},
		{"BehindAHistory", 200_000, 20, false, true},
		{"SmallWindow", 100_000, 20, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newDialogue(t, engine.Options{Preset: set, Window: tt.window})
			k.user("Compare the twelve offers.")
			for n := range tt.before {
				k.round(n, output(fmt.Sprintf("call_%d", n), 60))
			}
			k.parallel(12, output("offers", 260))
			p := k.prepare()
			if p.Fault != nil || p.Report.Before < 80_000 {
				t.Fatalf("%d tokens before, %v", p.Report.Before, p.Fault)
			}
			cut, covered := false, false
			for _, d := range p.Report.Decisions {
				cut = cut || d.Target.Message == len(k.ms)
				covered = covered || d.Kind == decant.Cover
			}
			if cut != tt.cut || covered != tt.covered {
				t.Errorf("%d tokens became %d; fresh results cut: %t, history covered: %t", p.Report.Before, p.Report.After, cut, covered)
			}
		})
	}
}

// Fifty messages are no reason for a pour; under the trigger by tokens nothing happens.
func TestManyMessagesAreNoReasonForAPour(t *testing.T) {
	set, err := preset.Load("agent-loop")
	if err != nil {
		t.Fatal(err)
	}
	k := newDialogue(t, engine.Options{Preset: set, Window: 200_000})
	k.user("Work.")
	for n := range 40 {
		k.round(n, "ok")
	}
	if p := k.prepare(); len(p.Report.Decisions) > 0 || string(p.Body) != string(k.body()) {
		t.Errorf("%d messages with %d tokens: %d decisions", len(k.ms), p.Report.Before, len(p.Report.Decisions))
	}
}

// A second pour by hand folded the newest messages for 1,700 tokens, as "the only legal form".
func TestAFoldIsForLegalityOrSizeOnly(t *testing.T) {
	k := newDialogue(t, engine.Options{})
	k.pour()
	k.says("Done.")
	k.user("And now the next one.")
	k.mustSend()
	key := store.Key{ID: k.last.Conversation}
	for range 3 {
		c, err := k.engine.Preview(t.Context(), key)
		if errors.Is(err, decant.ErrNothing) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Plan.Decisions {
			if d.Reduction == decant.ReductionFold {
				t.Fatalf("a fold of %d tokens to %d in a window of %d: %s", c.Plan.Before.Total(), c.Plan.After.Total(), c.Plan.Window, d.Reason)
			}
		}
		if err := k.engine.Apply(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("there is something worth leaving out each time")
}
