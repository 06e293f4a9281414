package deliver

import (
	"cmp"
	"fmt"
	"time"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/internal/humanize"
)

// A Report is what a run has found.
type Report struct {
	Run       string          `json:"run"`
	Began     time.Time       `json:"began"`
	Ended     time.Time       `json:"ended"`
	Since     time.Time       `json:"since"` // errors from then
	Until     time.Time       `json:"until"` // to then were looked at
	Sources   []string        `json:"sources"`
	Model     string          `json:"model,omitzero"`     // empty: nothing was sent to a model
	Simulated bool            `json:"simulated,omitzero"` // the model is a stand-in: what it finds says nothing about what a real one would
	On        string          `json:"layers,omitzero"`    // context layers that were on, as layer.Set says them
	Errors    []ReportedError `json:"errors"`             // the most important first
	Totals    Totals          `json:"totals"`
	RunReport RunReport       `json:"run_report"`
	Notices   []string        `json:"notices,omitempty"` // what could not be had
	Failed    string          `json:"failed,omitzero"`   // why the run could not do its work; empty: it could
	Track     Track           `json:"track,omitzero"`    // how often earlier findings were right
}

// A ReportedError is an error of a report, whether it was investigated or not.
type ReportedError struct {
	investigate.Case
	Finding *investigate.Finding `json:"finding,omitzero"` // nil: it was not investigated
	Left    string               `json:"left,omitzero"`    // why it was not
	Owner   string               `json:"owner,omitzero"`   // of the code
	Links   []string             `json:"links,omitempty"`  // to the lines of Finding.Evidence, in its order; empty ones where there is none
	Trial   *Trial               `json:"trial,omitzero"`   // of the patch; nil: nobody has tried it
}

// A Trial is what came of trying a patch. It is told to people at the machine where that was, and to nobody else.
type Trial struct {
	Why     string `json:"why"`
	Printed string `json:"printed,omitzero"` // by programs of the machine
}

// Totals is what a run has used.
type Totals struct {
	Events       int        `json:"events"`
	Errors       int        `json:"errors"`
	Investigated int        `json:"investigated"`
	High         int        `json:"high_confidence"`
	Inconclusive int        `json:"inconclusive"`
	Forced       int        `json:"forced"`
	Iterations   int        `json:"iterations"`
	Tokens       int        `json:"tokens"` // of prompts and answers, from the cache or not
	USD          float64    `json:"usd"`
	Struck       int        `json:"struck"` // evidence and suspects that nothing had shown
	Code         code.Stats `json:"code"`   // reads of code, and how many of them the cache had
	Seconds      float64    `json:"seconds"`

	Layers layerTotals `json:"layers"`
}

// Sum fills the totals from the errors. Events, stats and seconds are those of the run.
func (r *Report) Sum(events int, stats code.Stats, seconds float64) {
	t := Totals{Events: events, Errors: len(r.Errors), Code: stats, Seconds: seconds}
	for i := range r.Errors {
		f := r.Errors[i].Finding
		if f == nil {
			continue
		}
		t.Investigated++
		t.Iterations += f.Iterations
		t.Tokens += f.Tokens()
		t.USD += f.USD
		t.Struck += len(f.Struck)
		t.Layers.add(f)
		if f.Confidence == investigate.High {
			t.High++
		}
		if f.State != investigate.RootCause {
			t.Inconclusive++
		}
		if f.Forced {
			t.Forced++
		}
	}
	r.Totals, r.RunReport = t, t.RunReport()
}

// Headline says in a sentence what the run has found.
func (r *Report) Headline() string {
	t := &r.Totals
	switch {
	case r.Failed != "":
		return "The run has failed: " + r.Failed
	case t.Errors == 0:
		return fmt.Sprintf("No errors from %s to %s.", day(r.Since), day(r.Until))
	case t.Investigated == 0:
		return fmt.Sprintf("%s, none of them investigated.", count(t.Errors, "error"))
	}
	return fmt.Sprintf("%s, %d investigated: the cause of %d is known, %d with high confidence.", count(t.Errors, "error"), t.Investigated, t.Investigated-t.Inconclusive, t.High)
}

// Spent says in a sentence what the run has used.
func (r *Report) Spent() string {
	t := &r.Totals
	if t.Investigated == 0 {
		return "Nothing was sent to a model."
	}
	text := fmt.Sprintf("%s tokens, $%.2f: %s tokens and %.1f answers of the model for each error, in %.1f s.", humanize.Thousands(t.Tokens), t.USD,
		humanize.Thousands(t.Tokens/t.Investigated), float64(t.Iterations)/float64(t.Investigated), t.Seconds)
	if r.Simulated {
		text += " The model is a stand-in with recorded answers; a real one finds other things and uses more."
	}
	return text
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// Title returns the name of an error, with what kind of news it is.
func (e *ReportedError) Title() string { return cmp.Or(e.State, "new") + ": " + e.Name() }

// count returns a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%s %s", humanize.Thousands(n), thing)
}

// Found returns an error of the run that was investigated, by its number; nil: there is none.
func (r *Report) Found(number int) *ReportedError {
	for i := range r.Errors {
		if e := &r.Errors[i]; e.Number == number && e.Finding != nil {
			return e
		}
	}
	return nil
}
