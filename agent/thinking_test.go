package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// Three quarters of the base fall away, in equal steps.
func TestFading(t *testing.T) {
	for _, c := range []struct{ base, limit, iteration, want int }{
		{4000, 7, 0, 4000}, {4000, 7, 1, 3500}, {4000, 7, 3, 2500}, {4000, 7, 6, 1000},
		{4000, 5, 0, 4000}, {4000, 5, 1, 3250}, {4000, 5, 4, 1000},
		{8000, 10, 0, 8000}, {8000, 10, 1, 7333}, {8000, 10, 5, 4666}, {8000, 10, 9, 2000},
		{12000, 15, 0, 12000}, {12000, 15, 1, 11357}, {12000, 15, 7, 7500}, {12000, 15, 14, 3000},
		{8000, 1, 0, 8000}, {8000, 1, 1, 2000}, {8000, 0, 0, 8000}, {8000, 10, 40, 2000},
		{4000, 6, 4, 1599}, // as the formula is rounded
	} {
		if got := Fading(c.base)(c.iteration, c.limit); got != c.want {
			t.Errorf("%d at iteration %d of %d: %d, want %d", c.base, c.iteration, c.limit, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		base, limit := rapid.IntRange(0, 100_000).Draw(t, "base"), rapid.IntRange(0, 200).Draw(t, "limit")
		last := base
		for i := range limit + 2 {
			n := Fading(base)(i, limit)
			if n > last || n < base/4 || n > base {
				t.Fatalf("%d tokens at iteration %d, %d before it, base %d", n, i, last, base)
			}
			last = n
		}
	})
}

// asked is what a request says about thinking.
type asked struct {
	Most     int `json:"max_tokens"`
	Thinking struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Output struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

func (a asked) String() string {
	return strings.TrimSpace(fmt.Sprint(a.Most, " ", a.Thinking.Type, " ", max(0, a.Thinking.Budget), " ", a.Output.Effort))
}

// requests returns what all requests to a server said about thinking.
func requests(t *testing.T, s *sandbox.Server) (out []string) {
	t.Helper()
	for _, e := range s.Log.Entries() {
		var a asked
		if err := json.Unmarshal(e.Body, &a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a.String())
	}
	return out
}

// steps is a model that reads so often in each turn, and thinks if it may.
func steps(n int) sandboxtest.Model {
	return func(p *sandbox.Prompt) sandbox.Answer {
		thought := sandbox.Block{Kind: decant.KindThinking, Text: strings.Repeat("Where could it be? ", 20)}
		if k := p.Answers(); k%(n+1) < n {
			return says(thought, text("More."), use(fmt.Sprintf("toolu_%d", k), "read", `{}`))
		}
		return says(thought, text("Done."))
	}
}

// Each model is told of thinking what it takes, and refuses nothing.
func TestThinkingByModel(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want []string
	}{
		"budgets": {Options{Model: "claude-sonnet-4-5", Turns: 4, Thinking: Fading(4000)},
			[]string{"5000 enabled 4000", "4000 enabled 3000", "3000 enabled 2000", "2024 enabled 1024"}}, // what the API takes at least
		"budgets and effort":  {Options{Model: "claude-opus-4-6", Turns: 2, Thinking: Steady(2000)}, []string{"3000 enabled 2000", "3000 enabled 2000"}},
		"effort":              {Options{Model: "claude-opus-5-5", Turns: 4, Thinking: Fading(8000)}, []string{"9000 adaptive 0", "7000 adaptive 0 medium", "5000 adaptive 0 medium", "3000 adaptive 0 low"}},
		"effort on request":   {Options{Model: "claude-opus-4-7", Turns: 2, Thinking: Steady(1)}, []string{"2024 adaptive 0 low", "2024 adaptive 0 low"}},
		"nothing is known":    {Options{Model: "claude-mythos-5", Turns: 2, Thinking: Steady(4000)}, []string{"1000  0", "1000  0"}},
		"nothing is asked":    {Options{Model: "claude-sonnet-4-5", Turns: 2}, []string{"1000  0", "1000  0"}},
		"no tokens":           {Options{Model: "claude-sonnet-4-5", Turns: 2, Thinking: Steady(0)}, []string{"1000  0", "1000  0"}},
		"more than there are": {Options{Model: "claude-sonnet-4-5", Turns: 1, Thinking: Steady(1 << 20)}, []string{"64000 enabled 63000"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, steps(20))
			c.o.MaxTokens, c.o.Tools = 1000, []Tool{readsMuch(100)}
			if _, o, err := finished(t, w.agent(c.o).Run(t.Context(), "Find it.")); err != nil || o.Spent.Turns != len(c.want) {
				t.Errorf("%+v, error %v", o, err)
			}
			if got := requests(t, w.server); !slices.Equal(got, c.want) {
				t.Errorf("asked\n%q, want\n%q", got, c.want)
			}
			w.legal()
		})
	}
}

// A run that goes on elsewhere is at the iteration at which it was left, whether its process ended or a call waited to be allowed; the next
// run begins anew.
func TestThinkingGoesOnElsewhere(t *testing.T) {
	w := newWorld(t, steps(3))
	o := Options{Journals: w.db.Store(), Turns: 4, MaxTokens: 1000, Thinking: Fading(8000), Tools: []Tool{readsMuch(100)}}
	stopped := errors.New("stopped")
	left, after := o, 0
	left.Hooks.BeforeTool = func(context.Context, *Call) error {
		if after++; after == 2 {
			return stopped
		}
		return nil
	}
	s := w.agent(left).Session("s")
	if _, _, err := finished(t, s.Run(t.Context(), "Find it.")); !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	if err := w.db.Engine().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := opened(t, w.elsewhere(o), "s")
	for _, events := range []func() error{
		func() error { _, _, err := finished(t, there.Continue(t.Context())); return err },
		func() error { _, _, err := finished(t, there.Run(t.Context(), "And now?")); return err },
	} {
		if err := events(); err != nil {
			t.Fatal(err)
		}
	}
	first := []string{"9000 enabled 8000", "7000 enabled 6000", "5000 enabled 4000", "3000 enabled 2000"}
	if got, want := requests(t, w.server), slices.Concat(first, first); !slices.Equal(got, want) {
		t.Errorf("asked\n%q, want\n%q", got, want)
	}
	w.legal()
}

// A turn that was begun without thinking ends without it: no budget is asked for that the API would refuse.
func TestATurnBegunWithoutThinking(t *testing.T) {
	w := newWorld(t, steps(2))
	o := Options{Journals: w.db.Store(), MaxTokens: 1000, Tools: []Tool{readsMuch(100)}}
	without := o
	without.Turns = 50
	stopped := errors.New("stopped")
	without.Hooks.BeforeTool = func(context.Context, *Call) error { return stopped }
	if _, _, err := finished(t, w.agent(without).Session("s").Run(t.Context(), "Find it.")); !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	if err := w.db.Engine().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Thinking = Steady(2000)
	s := opened(t, w.elsewhere(o), "s")
	if _, _, err := finished(t, s.Continue(t.Context())); err != nil {
		t.Error(err)
	}
	if _, _, err := finished(t, s.Run(t.Context(), "And now?")); err != nil {
		t.Error(err)
	}
	want := []string{"1000  0", "1000  0", "1000  0", "3000 enabled 2000", "3000 enabled 2000", "3000 enabled 2000"}
	if got := requests(t, w.server); !slices.Equal(got, want) {
		t.Errorf("asked\n%q, want\n%q", got, want)
	}
	w.legal()
}

// A schedule whose values differ costs the provider's cache of the messages; one that stays the same does not.
func TestThePriceOfAThinkingSchedule(t *testing.T) {
	read := map[string]int{}
	for name, s := range map[string]Schedule{"steady": Steady(4000), "fading": Fading(4000)} {
		w := newWorld(t, steps(6))
		_, o, err := finished(t, w.agent(Options{Turns: 8, Thinking: s, Tools: []Tool{readsMuch(20_000)}}).Run(t.Context(), "Find it."))
		if err != nil {
			t.Fatal(err)
		}
		read[name] = o.Spent.Usage.CacheRead
	}
	if read["steady"] < 20_000 || read["fading"] > read["steady"]/10 {
		t.Errorf("tokens read from the cache: %v", read)
	}
}

// A budget holds, though what thinking may take comes on top of an answer.
func TestThinkingWithinABudget(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		a := reader(p)
		return says(append([]sandbox.Block{{Kind: decant.KindThinking, Text: strings.Repeat("Where could it be? ", 3000)}}, a.Blocks...)...)
	}))
	b := Budget{Tokens: 60_000}
	_, o, err := finished(t, w.agent(Options{Budget: b, MaxTokens: 1000, Thinking: Steady(12_000), Tools: []Tool{readsMuch(3000)}}).Run(t.Context(), "Find the cause."))
	if err != nil && !errors.Is(err, ErrBudget) || o.Stop != StopBudget || o.Spent.Tokens() > b.Tokens {
		t.Errorf("%+v, error %v", o, err)
	}
	w.legal()
}
