package policy_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// minutes is a summariser of a program's own. A real one would ask a model for no more than in.MaxTokens that keep
// in.Facts, and say what the call has cost.
type minutes struct{}

func (minutes) Summarize(_ context.Context, in provider.SummaryInput) (provider.Summary, error) {
	text := ""
	for i := range in.Messages {
		if in.Messages[i].Has(decant.KindUse) {
			line := fmt.Sprintf("m%d The handler reads its file and returns a status: the tests were run with %s.\n",
				in.Messages[i].Number, in.Messages[i].Text(decant.KindUse))
			if in.Counter.Count(text+line) < in.MaxTokens {
				text += line
			}
		}
	}
	return provider.Summary{Text: text, Model: "minutes", CostUSD: 0.01}, nil
}

// A plan chooses what its checkpoint covers; then the record is written, once.
func ExampleProposal_Write() {
	set, err := preset.Load("default")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, c := context.Background(), work(60, 3000)
	p, err := policy.Propose(ctx, c, policy.PlanOptions{
		Model: token.Model{ID: "mine", Window: 32_000}, Preset: set, Target: 6000, Trigger: 20_000,
		KeepTurns: -1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := p.Write(ctx, minutes{}); err != nil {
		fmt.Println("the plan has the extractive record:", err)
	}
	cp := decant.CheckpointIn(p.Plan.Decisions)
	fmt.Println(cp.Rung, strings.Contains(cp.Summary, "the tests were run"), p.Plan.After.Messages <= p.Plan.Target)
	// Output: model true true
}
