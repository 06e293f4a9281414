package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/decantdev/decant/replay"
)

// A Replay is what policies made of recorded sessions.
type Replay struct {
	Sessions []*replay.Session `json:"sessions"`
	Total    []replay.Result   `json:"total"` // over all sessions, policy by policy
	Skipped  []string          `json:"skipped,omitempty"`
}

// NewReplay adds up what was played.
func NewReplay(ss []*replay.Session) *Replay { return &Replay{Sessions: ss, Total: replay.Sum(ss)} }

// WriteText writes a table, one row a policy. Costs are shares of the first policy's.
func (r *Replay) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	if len(r.Total) == 0 {
		p.line("nothing to replay: no conversation with two requests")
		return p.err
	}
	conversations := 0
	for _, s := range r.Sessions {
		conversations += s.Conversations
	}
	base := &r.Total[0]
	p.line("%s, %s, %s", Count(len(r.Sessions), "session"), Count(conversations, "conversation"), Count(base.Requests, "request"))
	p.line("")
	p.line("%-18s %12s %10s %6s %8s %6s %7s %10s %7s %7s %8s %8s", "policy", "tokens", "dollars", "cost", "cached", "busts", "pours", "peak", "over", "recall", "grounded", "at risk")
	for i := range r.Total {
		p.replayRow(&r.Total[i], base)
	}
	p.line("")
	p.line("cost: share of %q, cache reads and writes at the model's prices. busts: requests that did not continue the prompt before.", base.Policy)
	p.line("over: requests larger than the window. recall: of the exact strings that the assistant wrote next, the share still in view;")
	p.line("grounded: on a line that says what it said. at risk: must-keep facts that are not in the last view.")
	for _, s := range r.Skipped {
		p.line("note: %s", s)
	}
	return p.err
}

func (p *printer) replayRow(r, base *replay.Result) {
	dollars := fmt.Sprintf("%.2f", r.USD)
	if r.Unpriced {
		dollars = "-"
	}
	p.line("%-18s %12s %10s %6.3f %8s %6d %7d %10s %7d %7.3f %8.3f %8s", r.Policy, Thousands(r.Usage.Prompt()), dollars, costShare(r, base),
		Percent(r.Usage.CacheRead, r.Usage.Prompt()), r.Busts, r.Pours(), Thousands(r.Peak), r.Burst, r.Recall(), r.GroundedRecall(), Percent(r.AtRisk, r.Facts))
	if r.Illegal > 0 {
		p.line("%-18s %s broken", "", Count(r.Illegal, "rule"))
	}
}

// costShare returns what r cost as a share of base: in dollars where prices are known.
func costShare(r, base *replay.Result) float64 {
	a, b := r.USD, base.USD
	if r.Unpriced || base.Unpriced {
		a, b = r.Units, base.Units
	}
	if b == 0 {
		return 1
	}
	return a / b
}

// WriteCSV writes one line a session and policy, and the totals last.
func (r *Replay) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{
		"session", "model", "policy", "requests", "prompt_tokens", "cache_read_tokens", "cache_write_tokens", "input_tokens", "usd", "cost_share",
		"busts", "rewritten_tokens", "peak_tokens", "over_window", "pours_necessary", "pours_free", "pours_paid", "pours_client", "illegal", "recall", "grounded", "facts", "facts_at_risk",
	})
	for _, s := range r.Sessions {
		for i := range s.Results {
			c.Write(csvRow(s.Name, s.Model, &s.Results[i], &s.Results[0]))
		}
	}
	for i := range r.Total {
		c.Write(csvRow("total", "", &r.Total[i], &r.Total[0]))
	}
	c.Flush()
	return c.Error()
}

func csvRow(name, model string, r, base *replay.Result) []string {
	usd := strconv.FormatFloat(r.USD, 'f', 6, 64)
	if r.Unpriced {
		usd = ""
	}
	n := strconv.Itoa
	f := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
	return []string{
		name, model, r.Policy, n(r.Requests), n(r.Usage.Prompt()), n(r.Usage.CacheRead), n(r.Usage.CacheWrite), n(r.Usage.Input), usd, f(costShare(r, base)),
		n(r.Busts), n(r.Rewritten), n(r.Peak), n(r.Burst), n(r.Necessary), n(r.Free), n(r.Paid), n(r.Client), n(r.Illegal), f(r.Recall()), f(r.GroundedRecall()), n(r.Facts), n(r.AtRisk),
	}
}
