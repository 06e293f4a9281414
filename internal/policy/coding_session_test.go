package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
)

// The kill switch. Old messages go as they did before there were summaries: nobody reads them, no model is asked, and
// 50 messages at most are left. They can be read again.
func TestCompactionSwitchedOff(t *testing.T) {
	o := options(t, "agent-loop")
	set := *o.Preset
	set.Compaction = preset.CompactionTrim
	o.Preset = &set
	c := work(60, 6000)
	p, err := policy.Propose(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	asked := summariser(func(context.Context, provider.SummaryInput) (provider.Summary, error) {
		t.Error("a model was asked")
		return provider.Summary{}, nil
	})
	if err := p.Write(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	cp := decant.CheckpointIn(p.Plan.Decisions)
	if cp == nil || cp.Rung != decant.RungHeadTail || len(p.Plan.Decisions) != 1 {
		t.Fatalf("checkpoint %+v of %d decisions", cp, len(p.Plan.Decisions))
	}
	view, err := p.Plan.Apply(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(view.Messages) > 50 || p.Plan.After.Messages > p.Plan.Target {
		t.Errorf("%d messages with %d tokens are left, the target is %d", len(view.Messages), p.Plan.After.Messages, p.Plan.Target)
	}
}

// A session whose profile is "never" is compacted only where its window leaves no choice.
func TestCompactionNever(t *testing.T) {
	for name, want := range map[string]int{"coding-session-50": 50_000, "coding-session": 100_000, "coding-session-150": 150_000, "coding-session-never": 195_000} {
		o := options(t, name)
		l, err := policy.LimitsFor(o.Model, o.Preset, 5000, 8000)
		if err != nil {
			t.Fatal(err)
		}
		for tokens, due := range map[int]bool{want: false, want + 1: true} {
			why := policy.Due(policy.Situation{Limits: l, Tokens: tokens, MaxBytes: 1 << 30})
			if (why == policy.Necessary) != due {
				t.Errorf("%s at %d tokens: %q", name, tokens, why)
			}
		}
	}
}

// At 100,000 tokens a summary between the preset's tags takes the place of what was done, and about a tenth is left.
func TestCodingSessionPreset(t *testing.T) {
	c := &talk{}
	for i := range 10 {
		c.user(fmt.Sprintf("TASK-%d: fix the handler in pkg/mod%d.", 101+i, i))
		c.call("Bash", `{"command":"go test ./..."}`, prose(i, 45_000))
		c.assistant(fmt.Sprintf("TASK-%d is completed: 43 of 46 tests pass, commit 7b848b%d.", 101+i, i))
	}
	plan, view := planned(t, &c.conv, options(t, "coding-session"))
	if plan.Before.Messages <= 100_000 || plan.After.Messages > plan.Before.Messages*15/100 {
		t.Fatalf("%d tokens became %d", plan.Before.Messages, plan.After.Messages)
	}
	first := view.Messages[0].Text()
	if !strings.Contains(first, "<summary>\n") || !strings.HasSuffix(strings.TrimSpace(first), "</summary>") {
		t.Errorf("the summary stands without its tags:\n%.200s\n...\n%s", first, first[max(0, len(first)-200):])
	}
	for i := range 8 {
		if id := fmt.Sprintf("TASK-%d", 101+i); !strings.Contains(first, id) {
			t.Errorf("the summary lacks %s", id)
		}
	}
}

// Where a model is configured it gets the preset's prompt, and its text is between the preset's tags.
func TestCodingSessionAsksForASummary(t *testing.T) {
	c := &talk{}
	for i := range 10 {
		c.user(fmt.Sprintf("TASK-%d: fix the handler in pkg/mod%d.", 101+i, i))
		c.call("Bash", `{"command":"go test ./..."}`, prose(i, 45_000))
		c.assistant(fmt.Sprintf("TASK-%d is completed: 43 of 46 tests pass, commit 7b848b%d.", 101+i, i))
	}
	p, err := policy.Propose(t.Context(), &c.conv, options(t, "coding-session"))
	if err != nil {
		t.Fatal(err)
	}
	var asked []provider.SummaryInput
	err = p.Write(t.Context(), summariser(func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
		asked = append(asked, in)
		s, err := policy.Extractive{}.Summarize(ctx, in)
		return provider.Summary{Text: s.Text, CostUSD: 0.01}, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	view, err := p.Plan.Apply(&c.conv)
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || !strings.HasPrefix(asked[0].Form.Instructions, "Summarize progress focusing on: completed items, key decisions, current state, next steps.") {
		t.Fatalf("asked %d times", len(asked))
	}
	cp := decant.CheckpointIn(p.Plan.Decisions)
	first := view.Messages[0].Text()
	begin, end := strings.Index(first, "<summary>\n"), strings.LastIndex(first, "</summary>")
	if cp == nil || cp.Rung != decant.RungModel || begin < 0 || end < begin || !strings.Contains(first[begin:end], "TASK-101") {
		t.Errorf("checkpoint %+v in\n%.300s", cp, first)
	}
}
