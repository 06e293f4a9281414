package policy_test

import (
	"context"
	"math"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/testing/testkit"
)

// A summariser is a function that writes records.
type summariser func(context.Context, provider.SummaryInput) (provider.Summary, error)

func (s summariser) Summarize(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
	return s(ctx, in)
}

// Whatever a plan leaves for a record, a summariser that takes all of it keeps the plan within its target, with every
// preset and with reductions put back.
func TestARecordOfAnotherHandFits(t *testing.T) {
	c := recorded.Session(t, recorded.Claude).Conversation
	for _, name := range []string{"default", "agent-loop", "chat", "orchestrator"} {
		for _, target := range testkit.Depth([]int{4000}, []int{1500, 4000, 12_000, 40_000}) {
			for _, trigger := range []int{0, 3 * target} {
				o := options(t, name)
				o.Target, o.Trigger = target, trigger
				p, err := policy.Propose(t.Context(), c, o)
				if err != nil {
					t.Fatal(err)
				}
				was := decant.CheckpointIn(p.Plan.Decisions)
				asked := 0
				err = p.Write(t.Context(), summariser(func(ctx context.Context, in provider.SummaryInput) (provider.Summary, error) {
					asked++
					s, err := policy.Extractive{}.Summarize(ctx, in)
					return provider.Summary{Text: s.Text, CostUSD: 1, Rung: "mine"}, err
				}))
				if was == nil {
					if asked > 0 || err != nil {
						t.Errorf("%s to %d: asked %d times without a checkpoint, %v", name, target, asked, err)
					}
					continue
				}
				cp := decant.CheckpointIn(p.Plan.Decisions)
				if asked != 1 || p.Plan.After.Messages > p.Plan.Target || cp.CostUSD != 1 || p.Plan.Price.CostUSD < 1 ||
					(err == nil) != (cp.Rung == "mine") || (err != nil) != (len(p.Plan.Notes) > 0) {
					t.Errorf("%s to %d: asked %d times, %d tokens of %d, rung %s, $%g of $%g, notes %q, %v",
						name, target, asked, p.Plan.After.Messages, p.Plan.Target, cp.Rung, cp.CostUSD, p.Plan.Price.CostUSD, p.Plan.Notes, err)
				}
			}
		}
	}
}

// A summariser that panics or reports no amount of money is one that fails, and what it wrote is never sealed.
func TestASummarizerMayBeWrongInAnyWay(t *testing.T) {
	o := options(t, "default")
	o.Target, o.Key = 4000, []byte("key")
	c := recorded.Session(t, recorded.Claude).Conversation
	for name, s := range map[string]summariser{
		"Panics": func(context.Context, provider.SummaryInput) (provider.Summary, error) { panic("out of range") },
		"Free": func(context.Context, provider.SummaryInput) (provider.Summary, error) {
			return provider.Summary{CostUSD: -1}, nil
		},
		"NaN": func(context.Context, provider.SummaryInput) (provider.Summary, error) {
			return provider.Summary{Text: "I'm sorry, I cannot do that.", CostUSD: math.NaN()}, nil
		},
	} {
		p, err := policy.Propose(t.Context(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		want := decant.CheckpointIn(p.Plan.Decisions)
		if err := p.Write(t.Context(), s); err == nil {
			t.Errorf("%s: no error", name)
		}
		if cp := decant.CheckpointIn(p.Plan.Decisions); cp.Summary != want.Summary || cp.CostUSD != 0 {
			t.Errorf("%s: $%g, another record:\n%s", name, cp.CostUSD, cp.Summary)
		}
	}
	o.Target, o.Trigger = 30_000, 60_000
	p, err := policy.Propose(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if err = p.Write(t.Context(), summariser(tale)); err != nil {
		t.Fatal(err)
	}
	view, err := p.Plan.Apply(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range view.Messages {
		for k := range view.Messages[i].Blocks {
			view.Messages[i].Blocks[k].Author = decant.AuthorClient // as in a file
		}
	}
	if policy.Recognise(view, o.Key) != view {
		t.Error("the record of a summariser is sealed")
	}
}
