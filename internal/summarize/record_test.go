package summarize_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// What a summariser could not be asked about is named in the record of a pour, and in the plan stands how it was asked.
func TestTheRecordNamesGaps(t *testing.T) {
	set, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	c := &decant.Conversation{ID: "c", Model: "claude-opus-4-5", Messages: long(60)}
	p, err := policy.Propose(t.Context(), c, policy.PlanOptions{
		Model: token.Model{ID: "claude-opus-4-5", Provider: token.Anthropic, Window: 32_000}, Preset: set, Target: 8000, KeepTurns: -1,
		Call: provider.SummaryInput{Sent: []byte(`{}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := answers(func(_ int, r *provider.Request) (string, error) {
		if strings.Contains(r.Prompt, "which are part 2 of") {
			return "", owncalls.ErrResting
		}
		return honest(r), nil
	})
	if err := p.Write(t.Context(), smallWriter(t, a, 24_000)); err != nil {
		t.Fatal(err)
	}
	cp := decant.CheckpointIn(p.Plan.Decisions)
	if len(cp.Segments) != 1 || len(cp.Segments[0].Gaps) != 1 || cp.Segments[0].Rung != decant.RungPartial || !strings.Contains(cp.Summary, " without m") {
		t.Errorf("segments %+v, record\n%s", cp.Segments, cp.Summary)
	}
	if notes := strings.Join(p.Plan.Notes, "\n"); !strings.Contains(notes, "not asked for on the cached prompt") {
		t.Errorf("notes %q", notes)
	}
}
