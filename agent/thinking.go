package agent

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/token"
)

// A Schedule says how much of something there is for each iteration of a run. An iteration is an answer of the model, the first one is 0,
// and limit is how many there may be (Options.Turns). It must be a pure function: a run that goes on elsewhere asks it again.
type Schedule func(iteration, limit int) int

// Fading returns a schedule that gives base at the first iteration and a quarter of it at the last one, in equal steps. Bases for
// thinking are 4,000 tokens for what is simple, 8,000 for most things, and 12,000 for what is complex.
//
// As thinking it costs the provider's cache of the messages at every iteration (Options.Thinking); Steady does not.
func Fading(base int) Schedule {
	return func(iteration, limit int) int {
		progress := float64(iteration) / float64(max(limit-1, 1))
		fall := float64(0.75 * progress) // as it is rounded on every machine
		return int(float64(base) * max(0.25, 1-fall))
	}
}

// Steady returns a schedule with n at every iteration.
func Steady(n int) Schedule { return func(int, int) int { return n } }

// leastThinking is the smallest budget of thinking that the API takes (docs/reference/anthropic.md, "The request"). Where a model can answer
// no more than that and the answer, as much is left for the answer, too.
const leastThinking = 1024

// Budgets from which on a model that knows no budgets is asked for this effort. High is what it does by itself.
const (
	highEffort   = 8000
	mediumEffort = 3000
)

// A thought is what a request says about thinking.
type thought struct {
	mode   string // thinking.type; empty: the request says nothing
	budget int    // thinking.budget_tokens, 0: it says none
	effort string // output_config.effort, empty: it says none
	most   int    // max_tokens: the answer, and thinking before it
}

// thoughtOf returns what a request says of n tokens of thinking before an answer of so many tokens. A model is told only what it is known to
// take: most newer ones know effort in place of budgets, and models of other makers get neither.
func thoughtOf(m *token.Model, n, answer int) thought {
	none := thought{most: answer}
	if n <= 0 || m.Provider != token.Anthropic || !m.Takes("enabled") && !m.Takes("adaptive") {
		return none
	}
	n = max(n, leastThinking)
	t := thought{most: answer + n}
	if m.MaxOutput > 0 {
		t.most = min(t.most, m.MaxOutput)
	}
	if n = min(n, t.most-min(answer, leastThinking)); n < leastThinking {
		return none
	}
	if m.Takes("enabled") {
		t.mode, t.budget = "enabled", n
		return t
	}
	t.mode = "adaptive"
	switch {
	case n < mediumEffort:
		t.effort = "low"
	case n < highEffort:
		t.effort = "medium"
	}
	return t
}

// append appends what a request says about thinking to its members.
func (t *thought) append(b []byte) []byte {
	switch {
	case t.mode == "":
		return b
	case t.budget > 0:
		return append(strconv.AppendInt(append(b, `,"thinking":{"type":"enabled","budget_tokens":`...), int64(t.budget), 10), '}')
	case t.effort != "":
		b = append(append(b, `,"output_config":{"effort":"`...), t.effort...)
		b = append(b, `"}`...)
	}
	return append(b, `,"thinking":{"type":"adaptive"}`...)
}

// What an answer may have where a budget has no room for all that an agent allows: half as much, and half of that again, but no less than
// a call with its arguments takes, or a final answer.
const (
	scales      = 4
	leastAnswer = 1024
	leastFinal  = 2048
)

// answerTokens returns how many tokens an answer may have, without thinking, where as much as the agent allows is halved so many times.
func (a *Agent) answerTokens(halved int) int {
	return max(a.opts.MaxTokens>>halved, min(a.opts.MaxTokens, leastAnswer))
}

// finalTokens is answerTokens for a final answer.
func (a *Agent) finalTokens(halved int) int {
	return max(a.opts.MaxTokens>>halved, min(a.opts.MaxTokens, leastFinal))
}

// thinks returns what the request for an iteration says about thinking after a history, where as much as the agent allows is halved so many times.
func (a *Agent) thinks(h history, iteration, halved int) thought {
	n := 0
	if a.opts.Thinking != nil {
		n = a.opts.Thinking(iteration, a.opts.Turns) >> halved
	}
	t := thoughtOf(&a.model, n, a.answerTokens(halved))
	if t.mode == "enabled" && !opensWithThinking(h) {
		return thought{most: a.answerTokens(halved)} // the API would refuse it (docs/reference/anthropic.md, "Rules": thinking-first)
	}
	return t
}

// A room is how much of what its agent allows the next answer of a run may have.
type room struct {
	plain  bool // a final answer, without thinking
	halved int
}

// thinks returns what the next request of a run says about thinking.
func (r *asking) thinks(h history) thought {
	if r.room.plain {
		return thought{most: r.agent.finalTokens(r.room.halved)}
	}
	return r.agent.thinks(h, r.meter.spent.Turns, r.room.halved)
}

// mostAnswer returns the most tokens of the next answer, or of a final one after it.
func (r *asking) mostAnswer(h history) int {
	return max(r.thinks(h).most, r.agent.thinks(nil, r.meter.spent.Turns+1, 0).most)
}

// opensWithThinking reports whether the model has begun the turn that a history is in with thinking, or has said nothing in it yet. A
// session that was begun without thinking may have a turn under way in which there is none.
func opensWithThinking(h history) bool {
	first := -1
	for i := len(h) - 1; i >= 0 && !beginsTurn(h[i]); i-- {
		if !bytes.HasPrefix(h[i], []byte(userStart)) {
			first = i
		}
	}
	if first < 0 {
		return true
	}
	var answer struct {
		Blocks []struct {
			Type string `json:"type"`
		} `json:"content"`
	}
	if json.Unmarshal(h[first], &answer, lenient) != nil || len(answer.Blocks) == 0 {
		return false
	}
	return answer.Blocks[0].Type == "thinking" || answer.Blocks[0].Type == "redacted_thinking"
}

// beginsTurn reports whether a message is the user's and holds no results first.
func beginsTurn(m []byte) bool {
	return bytes.HasPrefix(m, []byte(userStart)) && !bytes.HasPrefix(m, []byte(userStart+`{"type":"tool_result"`))
}
