package deliver

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/internal/humanize"
)

// A RunReport is the usage of a run per error.
type RunReport struct {
	ErrorsAnalyzed int     `json:"errors_analyzed"`
	TotalTokens    int     `json:"total_tokens"`      // of prompts and answers, from the provider's cache or not
	TokensUsed     int     `json:"total_tokens_used"` // same as total_tokens
	PerError       int     `json:"tokens_per_error"`
	CostPerRun     float64 `json:"cost_per_run"`         // in USD
	Iterations     float64 `json:"iterations_per_error"` // answers of the model
	HighConfidence int     `json:"high_confidence"`
	Seconds        float64 `json:"run_duration_seconds"`
}

// RunReport returns the usage per error.
func (t *Totals) RunReport() RunReport {
	n := max(t.Investigated, 1)
	return RunReport{ErrorsAnalyzed: t.Investigated, TotalTokens: t.Tokens, TokensUsed: t.Tokens, PerError: t.Tokens / n, CostPerRun: t.USD,
		Iterations: float64(t.Iterations) / float64(n), HighConfidence: t.High, Seconds: t.Seconds}
}

// layerTotals is what the context layers have done in a run, as it was counted.
type layerTotals struct {
	investigate.Work
	Usage   decant.Usage `json:"usage"`
	Related int          `json:"related"` // errors that were explained by an earlier one
}

// add adds what they did in an investigation.
func (l *layerTotals) add(f *investigate.Finding) {
	l.Work, l.Usage = l.Work.Plus(f.Work), l.Usage.Add(f.Usage)
	if f.Related > 0 {
		l.Related++
	}
}

// Layers says what the context layers did in the run, one sentence each, those that did nothing left out.
func (r *Report) Layers() (out []string) {
	t := &r.Totals
	say := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	l, num := &t.Layers, humanize.Thousands
	say(l.Usage.CacheRead, "Prompt cache: %s of %s prompt tokens were read from the provider's cache, %s were written to it.", num(l.Usage.CacheRead), num(l.Usage.Prompt()), num(l.Usage.CacheWrite))
	say(l.Cut, "Caps: %s shortened by %s characters.", were(l.Cut, "result"), num(l.Left))
	say(l.Edits, "Editing: %s tokens of old results and thinking were cleared, in %s.", num(l.Cleared), count(l.Edits, "edit"))
	say(l.Compactions, "Compaction: %s put in the place of %s tokens.", were(l.Compactions, "summary"), num(l.Summarised))
	say(t.Forced, "Budget and iterations: %s forced.", were(t.Forced, "answer"))
	say(l.Thinking, "Thinking: %s tokens were allowed.", num(l.Thinking))
	say(l.Earlier, "Cross-error: %s told of earlier errors of the run; %s explained by one.", were(l.Earlier, "summary"), were(l.Related, "error"))
	say(l.Prior, "Prior: %s told of earlier runs.", were(l.Prior, "finding"))
	say(int(t.Code.Hits), "Code cache: %s of %s reads of code came from it.", num(int(t.Code.Hits)), num(int(t.Code.Hits+t.Code.Misses)))
	if r.On != "" && r.On != "all" {
		out = append(out, "Only these layers are on: "+r.On+".")
	}
	return out
}

// were returns how many things something was done to, as the beginning of a sentence about it.
func were(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing + " was"
	case thing == "summary":
		thing = "summarie"
	}
	return humanize.Thousands(n) + " " + thing + "s were"
}
