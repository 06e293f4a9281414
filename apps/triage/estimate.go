package triage

import (
	"context"
	"fmt"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// An Estimate says what a plan would cost, and when it would be done.
type Estimate struct {
	Model        string  `json:"model"`
	Passed       int     `json:"passed"`       // errors that a triage pass looks at
	Investigated int     `json:"investigated"` // errors that are investigated at most
	Rounds       int     `json:"batches"`      // the triage pass included
	Loop         float64 `json:"at_once_usd"`
	Batches      float64 `json:"batches_usd"`
	LoopTime     int     `json:"at_once_seconds"`
	Typical      int     `json:"typical_seconds"` // each batch takes an hour
	Longest      int     `json:"longest_seconds"` // each batch takes a day
	Basis        string  `json:"basis"`           // where the figures come from
}

// A Past is what investigations have used so far.
type Past struct {
	Investigations int
	Iterations     int // of all of them
	Longest        int // of one of them
	Usage          decant.Usage
}

// mostPast is how many runs experience is taken from.
const mostPast = 10

// Experience returns the usage of investigations in the newest runs.
func Experience(ctx context.Context, o Options) (p Past, err error) {
	all, err := Runs(ctx, o, mostPast)
	if err != nil {
		return p, err
	}
	for _, s := range all {
		r, err := Open(ctx, o, s.Run)
		if err != nil {
			return p, err
		}
		for _, f := range r.findings {
			p.Investigations++
			p.Iterations += f.Iterations
			p.Longest = max(p.Longest, f.Iterations)
			p.Usage = p.Usage.Add(f.Usage)
		}
	}
	return p, nil
}

// The expected usage of an investigation if there are no earlier ones: that of the sample.
const (
	usualIterations = 5
	usualFirst      = 3000 // tokens of the first prompt
	usualGrowth     = 1500 // tokens more with each answer
	usualAnswer     = 250  // tokens
	passPrompt      = 700  // tokens of a request of the triage pass
	passAnswer      = 80
	answerTime      = 15 // seconds, of a model, and the calls that it asks for
)

// Estimate returns what a plan would cost with a model.
func (p *Plan) Estimate(m *token.Model, past Past, now time.Time) Estimate {
	e := Estimate{Model: m.ID, Rounds: 1}
	most := 0
	for i := range p.Report.Errors {
		if c := &p.Report.Errors[i]; c.Number > 0 {
			e.Passed++
			most = max(most, investigate.Iterations(c.Class))
		}
	}
	e.Investigated = min(e.Passed, p.Batch.MaxErrors)
	n, prompt, output := usualIterations, 0, usualIterations*usualAnswer
	for i := range n {
		prompt += usualFirst + i*usualGrowth
	}
	fresh := usualFirst + (n-1)*usualGrowth
	e.Basis = "there are no earlier investigations, so it assumes 5 answers for each, and prompts that grow by 1,500 tokens per answer"
	rounds := n + 2
	if past.Investigations > 0 {
		k := past.Investigations
		n, prompt, output = (past.Iterations+k-1)/k, past.Usage.Prompt()/k, past.Usage.Output/k
		fresh = prompt / max(1, n) * 2
		e.Basis = fmt.Sprintf("it goes by the newest %d investigations, with %d answers each", k, n)
		rounds = past.Longest
	}
	if e.Investigated > 0 {
		e.Rounds += min(rounds, most)
	}
	e.price(m, now, prompt, min(fresh, prompt), output)
	e.LoopTime = (e.Investigated + 2) / 3 * n * answerTime
	e.Typical, e.Longest = e.Rounds*3600, e.Rounds*24*3600
	return e
}

// price sets the prices. At once, earlier messages are read from the cache. In batches nothing is, since a batch may take
// longer than the cache lasts.
func (e *Estimate) price(m *token.Model, now time.Time, prompt, fresh, output int) {
	usd := func(u decant.Usage, batch bool) float64 {
		total, _ := cost.Of(*m, u, cost.Terms{At: now, Batch: batch && m.Batch > 0}).Total()
		return total
	}
	k := float64(e.Investigated)
	e.Loop = k * usd(decant.Usage{CacheWrite: fresh, Write1h: fresh, CacheRead: prompt - fresh, Output: output}, false)
	e.Batches = k*usd(decant.Usage{Input: prompt, Output: output}, true) + float64(e.Passed)*usd(decant.Usage{Input: passPrompt, Output: passAnswer}, true)
}
