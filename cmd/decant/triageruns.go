package main

import (
	"io"

	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/report"
)

// A keptRun is a run as decant triage runs --json prints it.
type keptRun struct {
	triage.Summary
	RunReport report.RunReport `json:"run_report"`
}

// printRuns prints runs as JSON, or writes a page of them to a file.
func printRuns(s *streams, all []triage.Summary, page string) error {
	if page != "" {
		var past []report.Past
		for i := range all {
			past = append(past, report.Past{Run: all[i].Run, Began: all[i].Began, Headline: all[i].Headline, Totals: all[i].Totals})
		}
		return s.output(page, func(w io.Writer) error { return report.WriteHistory(w, past) })
	}
	out := []keptRun{}
	for i := range all {
		out = append(out, keptRun{all[i], all[i].Totals.RunReport()})
	}
	return writeJSON(s.out, out)
}
