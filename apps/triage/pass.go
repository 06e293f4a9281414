package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
)

// MaxPassed is how many errors of a run in batches the triage pass looks at.
const MaxPassed = 40

// A pass is the result of the triage pass of a run in batches.
type pass struct {
	Verdicts map[int]investigate.Verdict `json:"verdicts"`       // by the number of the error
	Left     map[int]string              `json:"left,omitempty"` // why an error is not investigated
	Usage    decant.Usage                `json:"usage"`
	USD      float64                     `json:"usd"`
	Failed   []string                    `json:"failed,omitempty"` // errors without a verdict, which are investigated
}

// leaves reports whether an error is not investigated.
func (p *pass) leaves(number int) bool { return p != nil && p.Left[number] != "" }

// into adds the verdicts and the usage of the pass to a report.
func (p *pass) into(r *deliver.Report) {
	if p == nil {
		return
	}
	for i := range r.Errors {
		if why := p.Left[r.Errors[i].Number]; why != "" {
			r.Errors[i].Left = why
		}
	}
	tokens := (&agent.Spent{Usage: p.Usage}).Tokens()
	r.Totals.Tokens, r.Totals.USD = r.Totals.Tokens+tokens, r.Totals.USD+p.USD
	r.RunReport = r.Totals.RunReport()
	r.Notices = append(slices.Clone(r.Notices), fmt.Sprintf(
		"A triage pass looked at %d errors and left out %d of them, for %d tokens and $%.4f at the price of batches. The totals include both.",
		len(p.Verdicts)+len(p.Failed), len(p.Left), tokens, p.USD))
	r.Notices = append(r.Notices, p.Failed...)
}

// assess makes the triage pass: it asks the model how severe each error is, and chooses what is investigated. It
// returns ErrPending until every answer is there.
func (r *Run) assess(ctx context.Context) error {
	p := &pass{Verdicts: map[int]investigate.Verdict{}, Left: map[int]string{}}
	var pending error
	cases := r.cases()
	for i := range cases {
		c := &cases[i]
		v, spent, err := r.o.Investigator.Assess(ctx, fmt.Sprintf("%s-pass-%d", r.ID(), c.Number), c)
		switch {
		case errors.Is(err, ErrPending):
			pending = err
			continue
		case errors.Is(err, investigate.ErrGivenUp), errors.Is(err, agent.ErrUntyped):
			p.Failed = append(p.Failed, fmt.Sprintf("The triage pass has no verdict on error %d, so it is investigated: %v", c.Number, err))
		case err != nil:
			return err
		default:
			p.Verdicts[c.Number] = v
		}
		p.Usage, p.USD = p.Usage.Add(spent.Usage), p.USD+spent.Money.USD()
	}
	if pending != nil {
		return pending
	}
	p.choose(cases, r.plan.Batch.MaxErrors)
	return r.write(ctx, &step{Pass: p})
}

// choose selects the errors that are investigated: those that are worth it, the most severe first, at most so many. An
// error without a verdict is worth it.
func (p *pass) choose(cases []investigate.Case, limit int) {
	rank := map[string]int{"high": -1, "low": 1}
	slices.SortStableFunc(cases, func(a, b investigate.Case) int {
		return cmp.Compare(rank[p.Verdicts[a.Number].Severity], rank[p.Verdicts[b.Number].Severity])
	})
	n := 0
	for i := range cases {
		number := cases[i].Number
		v, judged := p.Verdicts[number]
		switch {
		case judged && !v.Worth:
			p.Left[number] = fmt.Sprintf("the triage pass rates it %s and not worth an investigation: %s", cmp.Or(v.Severity, "low"), oneLine(v.Cause))
		case n == limit:
			p.Left[number] = fmt.Sprintf("a run investigates only %d errors; the triage pass rates it %s", limit, cmp.Or(v.Severity, "medium"))
		default:
			n++
		}
	}
}
