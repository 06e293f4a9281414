package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/token"
)

// staged returns night-watch by another route.
func staged(t *testing.T, route string) *preset.Preset {
	p := *policyOf(t, "night-watch")
	p.Native.Route = route
	return &p
}

// workThrough sends rounds of about 14,000 tokens, and returns the reports of the pours up to the first necessary one.
func workThrough(k *dialogue) (reports []engine.Report) {
	k.Helper()
	k.user("Why does OrdersController fail? Never restart the service billing-api.")
	for n := 1; n <= 9; n++ {
		k.round(n, bulky(fmt.Sprintf("call_%d", n), 11_200))
		k.mustSend()
		if r := k.last.Report; r.Reason != "" {
			if reports = append(reports, r); r.Reason == policy.Necessary {
				break
			}
		}
	}
	return reports
}

// At 50,000 tokens the model's provider writes the summary where it can, by the instructions of the
// preset; where it cannot, or must not, Decant does the same at the same size. The last four messages stay.
func TestTheSecondStageByTheProvider(t *testing.T) {
	for _, tt := range []struct {
		name, model, route string
		native, pours      bool
	}{
		{"a model that can", "claude-opus-4-6", preset.RouteAuto, true, true},
		{"nobody but the provider", "claude-opus-4-6", preset.RouteNative, true, true},
		{"a model that cannot", "claude-sonnet-4-5", preset.RouteAuto, false, true},
		{"not by the provider", "claude-opus-4-6", preset.RouteLocal, false, true},
		{"nobody but a provider that cannot", "claude-sonnet-4-5", preset.RouteNative, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &inquirer{}
			k := newDialogue(t, engine.Options{Models: engine.Models{Asker: q}, Preset: staged(t, tt.route), Window: 200_000})
			q.post, k.model = k.ask, tt.model
			k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}, Counter: token.For(lookup(tt.model))})
			reports := workThrough(k)
			if len(reports) == 0 {
				t.Fatal("never poured")
			}
			r := reports[len(reports)-1]
			if !tt.pours {
				if r.Reason != policy.Routine || r.Route != "cleared by rule, by the provider" || len(q.asked) > 0 {
					t.Errorf("%s by %q", r.Reason, r.Route)
				}
				return
			}
			if r.Reason != policy.Necessary || r.Before <= 50_000 || r.Before > 65_000 || strings.Contains(r.Route, compacted) != tt.native || len(q.asked) > 0 != tt.native {
				t.Errorf("%s by %q at %d tokens, asked %d times", r.Reason, r.Route, r.Before, len(q.asked))
			}
			if tt.native && !strings.Contains(string(q.asked[0].Body), "Preserve: error class, transaction name") {
				t.Errorf("the instructions are not asked for: %.300s", q.asked[0].Body[len(q.asked[0].Body)-800:])
			}
			if ms := k.last.View().Messages; tt.native && (len(ms) != 5 || !ms[0].Compaction || !strings.Contains(string(k.last.Body), "Never restart the service billing-api")) {
				t.Errorf("%d messages stay", len(ms))
			}
		})
	}
}

// The model pauses behind a summary: where the budget is nearly spent it is asked to come to an end, once.
func TestWrapUpAtThePause(t *testing.T) {
	for _, pressed := range []bool{true, false} {
		q := &inquirer{}
		o := engine.Options{Models: engine.Models{Asker: q}, Preset: staged(t, preset.RouteAuto), Window: 200_000}
		limit := 10_000_000
		if pressed {
			limit = 155_000
		}
		o.Budgets = []budget.Budget{{Tokens: limit, Per: "day"}}
		k := newDialogue(t, o)
		q.post, k.model = k.ask, "claude-opus-4-6"
		k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}, Counter: token.For(lookup(k.model))})
		workThrough(k)
		const words = "Token budget reached. Provide your best analysis now with what you've found."
		if n := strings.Count(string(k.last.Body), words); k.last.Report.Reason != policy.Necessary || n > 1 || n == 1 != pressed {
			t.Errorf("pressed: %t; poured: %s; asked %d times to come to an end", pressed, k.last.Report.Reason, n)
		}
	}
}
