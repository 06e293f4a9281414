package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
)

// A biller is a model that always wants to read more, as long as it may, says as much as it may, and bills prompts as it likes.
type biller func(prompt int) decant.Usage

func (f biller) Speak(_ context.Context, t *provider.Turn, _ func(provider.Delta)) (*provider.Answer, error) {
	u := f(len(t.Body) / 4)
	u.Output = 500
	if strings.Contains(string(t.Body), "Give your final answer now") {
		return &provider.Answer{Stop: "end_turn", Text: "found", Usage: u, Content: []byte(`[{"type":"text","text":"found"}]`)}, nil
	}
	call := fmt.Sprintf(`[{"type":"tool_use","id":"toolu_%d","name":"read","input":{}}]`, len(t.Body))
	return &provider.Answer{Stop: "tool_use", Usage: u, Content: []byte(call)}, nil
}

// What is held back for a call covers the dearest way in which its prompt can be billed: all of it written to the cache for an hour,
// as after a pause, with each call again. So no run costs more than its budget, and each ends with its answer.
func TestABudgetHoldsHoweverPromptsAreBilled(t *testing.T) {
	for name, bill := range map[string]biller{
		"input":            func(n int) decant.Usage { return decant.Usage{Input: n} },
		"read":             func(n int) decant.Usage { return decant.Usage{CacheRead: n} },
		"written":          func(n int) decant.Usage { return decant.Usage{CacheWrite: n} },
		"for an hour":      func(n int) decant.Usage { return decant.Usage{CacheWrite: n, Write1h: n} },
		"half for an hour": func(n int) decant.Usage { return decant.Usage{CacheWrite: n, Write1h: n / 2} },
	} {
		t.Run(name, func(t *testing.T) {
			for _, usd := range []float64{0.06, 0.1} {
				w := newWorld(t, nil)
				w.client = bill
				a := w.agent(Options{Budget: Budget{USD: usd}, LongCache: true, MaxTokens: 500, Turns: 8, Tools: []Tool{readsMuch(4000)}})
				_, o, err := finished(t, a.Run(t.Context(), "Find the cause."))
				if err != nil || !o.Forced || o.Text != "found" || o.Spent.Turns < 2 {
					t.Errorf("$%.2f: outcome %+v, error %v", usd, o, err)
				}
				if spent := o.Spent.Money.USD(); spent > usd {
					t.Errorf("$%.4f are spent of $%.2f, in %d turns", spent, usd, o.Spent.Turns)
				}
			}
		})
	}
}

// What has come since the newest count may be counted as half as much again as it is estimated, also where it is most of the prompt:
// what is held back for it covers that, and the run keeps within its budget.
func TestABudgetHoldsForAProviderThatCountsMore(t *testing.T) {
	const estimated = 4.9 // bytes of the words here that are estimated as one token
	counts := biller(func(bytes int) decant.Usage { return decant.Usage{Input: int(1.5 / estimated * float64(4*bytes))} })
	for _, tokens := range []int{20_000, 23_000} { // a prompt with one result fits twice by its estimate
		w := newWorld(t, nil)
		w.client = counts
		a := w.agent(Options{Budget: Budget{Tokens: tokens}, MaxTokens: 500, Tools: []Tool{readsMuch(39_000)}})
		_, o, err := finished(t, a.Run(t.Context(), "Find the cause."))
		if err != nil || !o.Forced || o.Text != "found" || o.Spent.Tokens() > tokens {
			t.Errorf("%d of %d tokens are spent: outcome %+v, error %v", o.Spent.Tokens(), tokens, o, err)
		}
	}
}
