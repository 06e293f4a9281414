package deliver

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/decantdev/decant/internal/figure"
	"github.com/decantdev/decant/internal/triage/investigate"
)

//go:embed page.html
var page string

// WriteHTML writes the report as a page of its own: without scripts, and without anything from elsewhere.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("triage").Funcs(template.FuncMap{
		"day": day, "happened": happened, "seen": lastSeenText, "verdict": verdict, "suspect": suspect, "related": related, "used": used,
		"join": func(list []string) string { return strings.Join(list, "; ") }, "link": link, "solved": solved,
		"thousands": figure.Thousands, "bill": billOf, "billText": func() string { return billText },
	}).Parse(page)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	if err := t.Execute(w, r); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// lastSeenText is lastSeen without markup.
func lastSeenText(e ReportedError) string { return strings.ReplaceAll(lastSeen(&e), `\`, "") }

// link returns the address of a piece of evidence, empty where it has none.
func link(e ReportedError, i int) string {
	if i < len(e.Links) {
		return e.Links[i]
	}
	return ""
}

func solved(f *investigate.Finding) bool { return f.State == investigate.RootCause }
