package policy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// A preview that ends in the middle of a credential shows no half of it: a half is not known for what it is.
func TestPreviewsCutNoCredentialInTwo(t *testing.T) {
	set, err := preset.Load("agent-loop")
	if err != nil {
		t.Fatal(err)
	}
	c := work(60, 3000)
	key := "ghp" + "_Zx9kfj2LmQqq7Zx9kfj2LmQqq7Zx9kfj2LmQ"
	for i := range c.Messages {
		for k := range c.Messages[i].Blocks {
			if b := &c.Messages[i].Blocks[k]; b.Kind == decant.KindResult {
				b.Content = decant.Text(strings.Repeat("x", set.Summary.Preview.Head-20) + " " + key + strings.Repeat(" y", 500))
			}
		}
	}
	p, err := policy.Propose(t.Context(), c, policy.PlanOptions{
		Model: token.Model{ID: "mine", Window: 32_000}, Preset: set, Target: 6000, KeepTurns: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	read := ""
	p.Write(t.Context(), summariser(func(_ context.Context, in provider.SummaryInput) (provider.Summary, error) {
		for i := range in.Messages {
			read += in.Messages[i].Text()
		}
		return provider.Summary{}, decant.ErrSummary
	}))
	if strings.Contains(read, key[:10]) || !strings.Contains(read, "[redacted") ||
		!strings.Contains(read, "characters left out") {
		t.Errorf("a summariser reads %.700q", read)
	}
}
