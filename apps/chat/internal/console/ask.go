package console

import (
	"context"
	"math"
	"strings"

	"github.com/decantdev/decant/agent"
)

// ask asks whether a call may be made. It shows what the call would change, or all that it is made with: nobody should allow what is not shown.
func (t *talk) ask(c *agent.Call) {
	t.asking, t.asked[c.ID] = c, true
	if c.Preview == "" {
		t.screen.line("May this be done? [%s] %s", c.Tool, c.Arguments)
	} else {
		t.screen.line("May this be done? [%s] %s", c.Tool, clip(string(c.Arguments), mostLine))
		t.change(c.Preview, math.MaxInt)
	}
	t.screen.line("y: yes, n: no (n WHY tells the model why), a: always")
	t.term.prompt(question)
}

// answer takes the answer to a question. What is no answer is asked again: nothing is allowed by a slip.
func (t *talk) answer(ctx context.Context, text string) {
	word, why, _ := strings.Cut(text, " ")
	v := agent.Verdict{Kind: agent.Allow}
	switch strings.ToLower(word) {
	case "y", "yes":
	case "n", "no":
		v = agent.Verdict{Kind: agent.Deny, Reason: strings.TrimSpace(why)}
	case "a", "always":
		rule, err := t.chat.Always(t.asking)
		if err != nil {
			t.screen.line("this can be allowed for once only: %v", err)
		} else {
			t.screen.line("allowed from now on: %s", rule)
		}
	default:
		t.screen.line("want y, n or a")
		return
	}
	id := t.asking.ID
	t.asking = nil
	t.begin(ctx, func(inner context.Context, tell func(agent.Event, error)) func() {
		for e, err := range t.chat.Resume(inner, id, v) {
			tell(e, err)
		}
		return t.rest
	})
}
