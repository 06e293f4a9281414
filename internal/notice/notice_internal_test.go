package notice

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
)

// pouring is the pour of the walkthrough under a preset.
func pouring(t *testing.T, name string) *engine.PourEvent {
	t.Helper()
	p, err := preset.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	cp := &decant.Checkpoint{Number: 1, From: 2, To: 19, Messages: 18, Original: 72_800, Compressed: 800, Score: 0.83, Share: 0.61}
	return &engine.PourEvent{
		Preset: p, Reason: policy.Necessary, Before: 85_200, After: 13_200, Threshold: 80_000, Checkpoint: cp,
		Decisions: []decant.Decision{
			{Kind: decant.Cover, Checkpoint: cp, Pour: "pour-1"},
			{Kind: decant.Stub, Reduction: decant.ReductionStub, Pour: "pour-1"},
		},
		Lost: 3, Price: decant.Price{CostUSD: 0.0421, SaveUSD: 0.0213},
	}
}

// The two lines on standard error, to the letter.
func TestLinesOfAgentLoop(t *testing.T) {
	want := []string{
		"  Compaction: estimated ~85,200 tokens, threshold 80,000 — compacting 18 messages",
		"  Compaction: summarized 18 messages into ~800 tokens, freed ~72,000 estimated tokens",
	}
	if got := Lines(pouring(t, "agent-loop")); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The warning lines.
func TestWarningLines(t *testing.T) {
	for name, want := range map[string]string{
		"agent-loop":   "  Warning: Compaction failed: the provider is overloaded. Falling back to history trimming.",
		"orchestrator": "Warning: Compaction failed: the provider is overloaded. Falling back to truncation.",
	} {
		x := pouring(t, name)
		x.Err = errors.New("the provider\nis overloaded")
		if got := Lines(x); len(got) == 0 || got[len(got)-1] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := Lines(pouring(t, "default")); len(got) > 0 {
		t.Errorf("the preset default has lines: %q", got)
	}
}

// A notice says what was kept, what left the view, and what it costs.
func TestText(t *testing.T) {
	const want = "poured (necessary): 85,200 tokens became 13,200. m2 to m19 (18 messages, 72,800 tokens) are a record of 800 now, c:1, with 61% of all exact strings in them; what follows stays. " +
		"blocks made smaller: 1 by stub. 3 facts that should be kept left the view. it costs $0.0421 and saves $0.0213 with each request."
	if got := text(pouring(t, "default")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	x := pouring(t, "default")
	x.Err = errors.New("the provider answered 429:\nslow down.")
	if got := text(x); !strings.HasSuffix(got,
		"request. the record is Decant's own: the provider answered 429: slow down.") {
		t.Errorf("got %s", got)
	}
	x.Checkpoint.Segments = []decant.Segment{{From: 2, To: 9, Text: "x"}}
	if got := text(x); !strings.HasSuffix(got,
		"request. what no earlier segment of the record is about is Decant's own: the provider answered 429: slow down.") {
		t.Errorf("got %s", got)
	}
	if got := text(&engine.PourEvent{Err: errors.New("no room")}); !strings.HasPrefix(got, "not poured: no room") {
		t.Errorf("got %s", got)
	}
}
