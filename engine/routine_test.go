package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/wire"
)

// resultsOf returns the results of a request body, oldest first.
func resultsOf(t *testing.T, body []byte) (out []string) {
	t.Helper()
	doc, err := wire.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range doc.Conversation.Messages {
		for i := range m.Blocks {
			if m.Blocks[i].Kind == decant.KindResult {
				out = append(out, m.Blocks[i].Text())
			}
		}
	}
	return out
}

// With prune: every_request the gateway keeps the preset's letter. On each request results older than
// three messages of the assistant are trimmed above 4,000 characters, and those older than ten are cleared.
func TestPruneOnEveryRequest(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: everyRequest(t), Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
	k.user("Go on.")
	full := func(n int) string { return fmt.Sprintf("%d", n) + strings.Repeat("x", 5000) }
	for n := 1; n <= 16; n++ {
		k.round(n, full(n))
		k.mustSend()
		for i, got := range resultsOf(t, k.last.Body) {
			want, back := full(i+1), n-(i+1)
			switch {
			case back >= 10:
				want = "[Tool result cleared]"
			case back >= 3:
				want = want[:1500] + "..." + want[len(want)-1500:]
			}
			if got != want {
				t.Fatalf("request %d: the result of round %d has %d characters, want %d", n, i+1, len(got), len(want))
			}
		}
		if r := k.last.Report.Reason; (r == policy.Routine) != (n > 3) || r != "" && r != policy.Routine {
			t.Errorf("request %d: poured for %q", n, r)
		}
	}
}

// The first request of a conversation that begins long is pruned as its later ones are.
func TestPruneOnTheFirstRequest(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: everyRequest(t), Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
	k.user("Go on.")
	for n := 1; n <= 14; n++ {
		k.round(n, fmt.Sprintf("%d", n)+strings.Repeat("x", 5000))
	}
	k.mustSend()
	cleared, trimmed := 0, 0
	for _, got := range resultsOf(t, k.last.Body) {
		switch {
		case got == "[Tool result cleared]":
			cleared++
		case len(got) == 3003:
			trimmed++
		}
	}
	if cleared != 4 || trimmed != 7 || k.last.Report.Reason != policy.Routine {
		t.Errorf("%d results are cleared, %d trimmed, for %q", cleared, trimmed, k.last.Report.Reason)
	}
}

// At pours, which is the default, nothing is pruned before the window demands it.
func TestPruneAtPours(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: policyOf(t, "chat"), Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
	k.user("Go on.")
	for n := 1; n <= 13; n++ {
		k.round(n, strings.Repeat("x", 5000))
		k.mustSend()
	}
	if got, want := string(k.last.Body), string(k.body()); got != want {
		t.Error("the view was changed")
	}
}

func everyRequest(t *testing.T) *preset.Preset {
	p := *policyOf(t, "chat")
	p.Prune = preset.PruneEveryRequest
	return &p
}

// Where the provider does not clear, Decant does so by the same numbers: above 30,000 tokens all results but
// the newest four, if that frees 5,000 tokens; above 50,000 a summary.
func TestTwoStages(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: policyOf(t, "night-watch"), Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 40_000, Model: &actor{}})
	k.user("Why does OrdersController fail?")
	var reasons []policy.Reason
	for n := 1; n <= 60 && len(reasons) < 12; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 120))
		k.mustSend()
		r := k.last.Report
		if r.Reason == "" {
			continue
		}
		reasons = append(reasons, r.Reason)
		if r.Reason != policy.Routine {
			break
		}
		if r.Before <= 30_000 || r.Before-r.After < 4_500 { // as the request is metered
			t.Errorf("round %d: cleared at %d tokens, %d afterwards", n, r.Before, r.After)
		}
		results := resultsOf(t, k.last.Body)
		for i, text := range results {
			if cleared := text == "[Tool result cleared]"; cleared != (i < len(results)-4) {
				t.Errorf("round %d: of %d results the one of round %d is cleared: %t", n, len(results), i+1, cleared)
			}
		}
	}
	if len(reasons) == 0 || reasons[0] != policy.Routine {
		t.Fatalf("pours: %v", reasons)
	}
}

// Where the newest four results alone are too large, the second stage comes: the first message and the last
// four stay, and a record stands for the rest.
func TestTheSecondStage(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: policyOf(t, "night-watch"), Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
	k.user("Why does OrdersController fail?")
	for n := 1; n <= 8; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 600))
		k.mustSend()
		if r := k.last.Report; r.Reason == policy.Necessary {
			if r.Before <= 50_000 {
				t.Errorf("a summary at %d tokens", r.Before)
			}
			doc, err := wire.Parse(k.last.Body)
			if err != nil {
				t.Fatal(err)
			}
			ms := doc.Conversation.Messages
			if first := ms[0].Text(); !strings.HasPrefix(first, "Why does OrdersController fail?") {
				t.Errorf("the first message is %.80q", first)
			}
			if kept := len(k.ms) - len(ms); kept <= 0 {
				t.Errorf("%d of %d messages are left", len(ms), len(k.ms))
			}
			return
		}
	}
	t.Fatal("no summary in 8 rounds of 60 KB")
}

// The manual fallback as a preset: from six answers on, however small they are, the first message and the last four stay. What comes then is kept until there are six answers
// again, so that the provider's cache has something to read.
func TestTheManualFallback(t *testing.T) {
	k := newDialogue(t, engine.Options{Preset: policyOf(t, "night-watch-manual"), Window: 200_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 200_000, Model: &actor{}})
	k.user("Why does OrdersController fail?")
	var poured []int
	for n := 1; n <= 12; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 40))
		k.mustSend()
		if k.last.Report.Reason == "" {
			continue
		}
		poured = append(poured, n)
		doc, err := wire.Parse(k.last.Body)
		if err != nil {
			t.Fatal(err)
		}
		ms := doc.Conversation.Messages
		if first := ms[0].Text(); !strings.HasPrefix(first, "Why does OrdersController fail?") || len(ms) > 6 {
			t.Errorf("round %d: %d messages, the first is %.80q", n, len(ms), first)
		}
		if got, want := len(resultsOf(t, k.last.Body)), 2; got != want {
			t.Errorf("round %d: %d results, want the newest %d", n, got, want)
		}
	}
	if fmt.Sprint(poured) != "[6 10]" {
		t.Errorf("pours in the rounds %v, want 6 and 10", poured)
	}
}

// Where a preset leaves its stages to the provider, it is the provider that clears old results, and Decant makes no pour before the
// window demands it.
func TestStagesOfTheProviderAlone(t *testing.T) {
	p := *policyOf(t, "night-watch")
	p.Native.Route = preset.RouteNative
	k := newDialogue(t, engine.Options{Preset: &p, Window: 120_000})
	k.sandbox = newSandbox(sandbox.Options{Window: 120_000, Model: &actor{}})
	k.user("Why does OrdersController fail?")
	for n := 1; n <= 10; n++ {
		k.round(n, output(fmt.Sprintf("call_%d", n), 600))
		k.mustSend()
		switch r := k.last.Report; {
		case r.Reason == policy.Necessary && r.Before > 100_000:
			return
		case r.Reason == policy.Routine && r.Route == "cleared by rule, by the provider":
		case r.Reason != "":
			t.Fatalf("round %d: %s at %d tokens", n, r.Reason, r.Before)
		}
	}
	if k.sandbox.Log.Last().Cleared == 0 {
		t.Fatal("neither a pour nor a clearing in a window of 120,000 tokens")
	}
}
