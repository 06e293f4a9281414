package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// reader is a model that always wants to read more, as long as it may, and otherwise gives its answer.
func reader(p *sandbox.Prompt) sandbox.Answer {
	last := p.Messages[len(p.Messages)-1].Blocks
	if strings.Contains(last[len(last)-1].Text, "Give your final answer now") {
		return says(text(`{"cause":"found"}`))
	}
	return says(text("More."), use(fmt.Sprintf("toolu_%d", len(p.Messages)), "read", `{}`))
}

func readsMuch(characters int) Tool {
	return Tool{Name: "read", ReadOnly: true, Run: func(context.Context, *Call) (Result, error) {
		return Result{Text: strings.Repeat("some words ", characters/11)}, nil
	}}
}

// At the limit of its budget or of its turns a run ends with an answer, within the limit, and after a warning.
func TestAtTheLimitTheFinalAnswerIsForced(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		stop Stop
	}{
		"tokens":      {Options{Budget: Budget{Tokens: 60_000}}, StopBudget},
		"dollars":     {Options{Budget: Budget{USD: 0.25}}, StopBudget},
		"turns":       {Options{Turns: 4}, StopTurns},
		"one turn":    {Options{Turns: 1}, StopTurns},
		"big results": {Options{Budget: Budget{Tokens: 12_000}, MostResult: 200_000}, StopBudget},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandboxtest.Model(reader))
			c.o.MaxTokens = 1000
			c.o.Tools = []Tool{readsMuch(12_000)}
			if name == "big results" {
				c.o.Tools = []Tool{readsMuch(150_000)}
			}
			s := w.agent(c.o).Session("")
			all, o, err := finished(t, s.Run(t.Context(), "Find the cause."))
			if err != nil || o.Stop != c.stop || !o.Forced || o.Text != `{"cause":"found"}` {
				t.Fatalf("outcome %+v, error %v", o, err)
			}
			if b := c.o.Budget; b.Tokens > 0 && o.Spent.Tokens() > b.Tokens || b.USD > 0 && o.Spent.Money.USD() > b.USD {
				t.Errorf("%d tokens and $%.4f are spent, of %+v", o.Spent.Tokens(), o.Spent.Money.USD(), b)
			}
			if c.o.Turns > 0 && o.Spent.Turns != c.o.Turns {
				t.Errorf("%d turns, want %d", o.Spent.Turns, c.o.Turns)
			}
			if name == "tokens" && count(all, EventWarning) != 1 {
				t.Errorf("%d warnings, want 1", count(all, EventWarning))
			}
			if got := string(w.server.Log.Last().Body); !strings.Contains(got, `"tool_choice":{"type":"none"}`) {
				t.Errorf("the tools are not switched off: %.300s", got)
			}
			if name == "big results" {
				sent := string(w.server.Log.Last().Body)
				if kept := string(s.Messages()[2]); len(kept) < 150_000 || strings.Contains(kept, "Left out.") || !strings.Contains(sent, "Left out.") {
					t.Errorf("%d bytes of the result are kept; sent: %.300s", len(kept), sent)
				}
			}
			if _, _, err := finished(t, s.Run(t.Context(), "And now?")); err != nil && !errors.Is(err, ErrBudget) {
				t.Errorf("the next run: %v", err)
			}
			w.legal()
		})
	}
}

// A budget is used: what is held back for another call and for the final answer is no more than these can take. With prompts that grow by about 1,000 tokens and short answers, more than
// two thirds are used, where half were when the calls of an answer and their results were held back for, too. Results of such a call are left out, and so is the call where that does not suffice.
func TestABudgetIsUsed(t *testing.T) {
	const budget = 30_000
	w := newWorld(t, sandboxtest.Model(reader))
	s := w.agent(Options{Budget: Budget{Tokens: budget}, MaxTokens: 2000, Tools: []Tool{readsMuch(4000)}}).Session("")
	_, o, err := finished(t, s.Run(t.Context(), "Find the cause."))
	if err != nil || !o.Forced || o.Text != `{"cause":"found"}` {
		t.Fatalf("outcome %+v, error %v", o, err)
	}
	if used := o.Spent.Tokens(); used > budget || used < budget*2/3 {
		t.Errorf("%d tokens of %d are used", used, budget)
	}
	w.legal()
}

// Where there is little room left, an answer may have less, and a final answer no thinking: so a run goes on until the next prompt and the
// final answer behind it would not both fit. With prompts of 2,500 tokens and more, of which each call adds some 1,000, no run ends
// before it has called, and most of each budget is used.
func TestASmallBudgetIsUsed(t *testing.T) {
	for _, c := range []struct {
		name     string
		tokens   int
		answer   int
		thinking Schedule
		share    float64 // of the budget, at least
	}{
		{"answers of 2,000", 12_000, 2000, nil, .45},
		{"answers of 2,000, more room", 20_000, 2000, nil, .65},
		{"answers of 8,000", 20_000, 8000, nil, .55},
		{"thinking", 20_000, 2000, Steady(8000), .55},
		{"fading", 30_000, 2000, Fading(12_000), .65},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, sandboxtest.Model(reader))
			s := w.agent(Options{
				Budget: Budget{Tokens: c.tokens}, MaxTokens: c.answer, Thinking: c.thinking, Tools: []Tool{readsMuch(4000)}, System: strings.Repeat("Some instructions. ", 500),
			}).Session("")
			_, o, err := finished(t, s.Run(t.Context(), "Find the cause."))
			if err != nil || !o.Forced || o.Text != `{"cause":"found"}` || o.Spent.Turns < 2 {
				t.Fatalf("outcome %+v, error %v", o, err)
			}
			if used := o.Spent.Tokens(); used > c.tokens || float64(used) < c.share*float64(c.tokens) {
				t.Errorf("%d of %d tokens are used", used, c.tokens)
			}
			w.legal()
		})
	}
}

// A budget that has no room for a call and the answer behind it is refused before anything is sent, and the error says how much they need:
// with as much the run calls and answers.
func TestABudgetWithoutRoomForACallSaysWhatItNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		small  Budget
		format string
		enough func(need float64) Budget
	}{
		"tokens":  {Budget{Tokens: 6000}, "%f tokens, and 6000 of 6000 are left", func(n float64) Budget { return Budget{Tokens: int(n)} }},
		"dollars": {Budget{USD: 0.02}, "$%f, and $0.0200 of $0.0200 are left", func(n float64) Budget { return Budget{USD: n + 0.0001} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandboxtest.Model(reader))
			o := Options{Budget: c.small, MaxTokens: 2000, Tools: []Tool{readsMuch(400)}, System: strings.Repeat("Some instructions. ", 500)}
			_, _, err := finished(t, w.agent(o).Run(t.Context(), "Find the cause."))
			const says = "the budget has no room for an answer: one call and the answer behind it may take "
			if !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), says) || len(w.server.Log.Entries()) > 0 {
				t.Fatalf("error %v, %d requests", err, len(w.server.Log.Entries()))
			}
			var need float64
			_, after, _ := strings.Cut(err.Error(), says)
			if _, err := fmt.Sscanf(after, c.format, &need); err != nil {
				t.Fatalf("%q: %v", after, err)
			}
			o.Budget = c.enough(need)
			_, out, err := finished(t, w.agent(o).Run(t.Context(), "Find the cause."))
			if err != nil || out.Spent.Turns < 2 || out.Text != `{"cause":"found"}` {
				t.Errorf("with %+v: outcome %+v, error %v", o.Budget, out, err)
			}
			w.legal()
		})
	}
}

// What is cut because a budget had room for less than the agent allows is followed by the final answer.
func TestAnAnswerCutForTheBudgetIsFollowedByTheFinalOne(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Choice == "none" {
			return says(text("That is all."))
		}
		return says(text(strings.Repeat("Where could it be? ", 1500)))
	}))
	_, o, err := finished(t, w.agent(Options{
		Budget: Budget{Tokens: 16_000}, Tools: []Tool{readsMuch(400)}, System: strings.Repeat("Some instructions. ", 500),
	}).Run(t.Context(), "Find the cause."))
	if err != nil || o.Stop != StopBudget || !o.Forced || o.Text != "That is all." || o.Spent.Tokens() > 16_000 {
		t.Errorf("outcome %+v, error %v", o, err)
	}
	w.legal()
}

// A budget that has no room for a single answer is an error, and nothing is sent.
func TestABudgetTooSmallForAnything(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(reader))
	s := w.agent(Options{Budget: Budget{Tokens: 50}}).Session("")
	_, o, err := finished(t, s.Run(t.Context(), "Find the cause."))
	if got := fmt.Sprintf("%s", s.Messages()); got != `[{"role":"user","content":[{"type":"text","text":"Find the cause."}]}]` {
		t.Errorf("what was not sent is in the history: %s", got)
	}
	if !errors.Is(err, ErrBudget) || o.Spent.Turns != 0 || len(w.server.Log.Entries()) != 0 {
		t.Errorf("outcome %+v, error %v, %d requests", o, err, len(w.server.Log.Entries()))
	}
}

// Eight runs that race for the last of an allowance never overrun it together, and each that has begun ends with its final answer,
// whatever the others do.
func TestRunsThatShareAnAllowance(t *testing.T) {
	for round := range testkit.Depth(5, 200) {
		t.Run(fmt.Sprint(round), func(t *testing.T) { race(t, 60_000+5000*(round%5)+1000*(round/5%5)) })
	}
}

// race lets eight runs share an allowance of so many tokens.
func race(t *testing.T, most int) {
	w := newWorld(t, sandboxtest.Model(reader))
	shared := NewAllowance(Budget{Tokens: most})
	var runs, begun sync.WaitGroup
	var mu sync.Mutex
	sum, answered := 0, 0
	begun.Add(8)
	for range 8 {
		first := sync.OnceFunc(func() { begun.Done(); begun.Wait() })
		hooks := Hooks{BeforeModel: func(context.Context, []byte) error { first(); return nil }}
		a := w.agent(Options{Allowance: shared, MaxTokens: 500, Tools: []Tool{readsMuch(4000)}, Hooks: hooks})
		runs.Go(func() {
			_, o, err := finished(t, a.Run(t.Context(), "Find the cause."))
			mu.Lock()
			defer mu.Unlock()
			sum += o.Spent.Tokens()
			if err != nil || !o.Forced || o.Text != `{"cause":"found"}` {
				t.Errorf("outcome %+v, error %v", o, err)
				return
			}
			answered++
		})
	}
	runs.Wait()
	if sum > most || answered != 8 {
		t.Errorf("%d of %d tokens are spent, %d of 8 runs have answered", sum, most, answered)
	}
	w.legal()
}

// What a budget of the engine or of the caller refuses was not said: the model is not asked, the session is as it was, in another
// process too, and it can be said again, with the same key, once there is room.
func TestWhatABudgetRefusesWasNotSaid(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("Yes.")) }))
	spent := false
	a := w.agent(Options{Journals: w.db.Store(), Budgets: func(context.Context) []budget.Budget {
		if !spent {
			return nil
		}
		return []budget.Budget{{Per: "day", Tokens: 10}}
	}})
	s := a.Session("")
	if _, _, err := finished(t, s.RunOnce(t.Context(), "first", "Do you hear me?")); err != nil {
		t.Fatal(err)
	}
	spent = true
	before, asked := len(s.Messages()), len(w.server.Log.Entries())
	all, o, err := finished(t, s.RunOnce(t.Context(), "second", "And now?"))
	if over, ok := errors.AsType[*budget.Error](err); !ok || !over.Own || len(all) != 1 || o.Stop != StopFailed {
		t.Errorf("events %+v, error %v, want a refusal alone", all, err)
	}
	again, err := a.Open(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Messages()) != before || len(again.Messages()) != before || len(w.server.Log.Entries()) != asked || again.Interrupted() {
		t.Errorf("%d messages here and %d elsewhere, want %d; the model was asked %d times", len(s.Messages()), len(again.Messages()), before, len(w.server.Log.Entries())-asked)
	}
	spent = false
	all, o, err = finished(t, again.RunOnce(t.Context(), "second", "And now?"))
	if err != nil || o.Text != "Yes." || all[0].Kind != EventUser || all[0].Index != before {
		t.Errorf("said again: events %+v, error %v", all, err)
	}
	w.legal()
}
