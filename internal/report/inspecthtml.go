package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed inspect.html
var inspectPage string

// WriteInspections writes one page about files that were inspected. It needs no network and no script,
// and follows the reader's light or dark colours.
func WriteInspections(w io.Writer, ins []*Inspection) error {
	t, err := template.New("inspect").Funcs(template.FuncMap{"thousands": Thousands, "percent": percent}).Parse(inspectPage)
	if err == nil {
		_, err = t.New("style").Parse(pageStyle)
	}
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	pages := make([]inspected, len(ins))
	for i, in := range ins {
		pages[i] = inspected{in, fmt.Sprintf("file-%d", i+1)}
	}
	if err := t.Execute(w, pages); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// inspected is what the template shows of one file.
type inspected struct {
	*Inspection
	Anchor string
}

// About returns the lines that the text begins with, as sentences.
func (p inspected) About() string { return sentences(p.head) }

// Notes returns the lines that the text ends with.
func (p inspected) Notes() []string {
	var out []string
	for line := range strings.Lines(textOf(func(t *printer) { p.findings(t); p.money(t) })) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return append(out, p.Warnings...)
}

// Chart draws how full the window was when the model answered.
func (p inspected) Chart() template.HTML {
	c := curve{name: "context", class: "c5"}
	for i := range p.Timeline {
		c.y = append(c.y, float64(p.Timeline[i].Tokens)/1000)
	}
	l := lines{title: "Context", unit: "thousand tokens", axisName: "answer", limit: float64(p.Window) / 1000, limitName: "window", curves: []curve{c}}
	return l.svg()
}

// Verdict says in a sentence how full the context is and what fills it.
func (in *Inspection) Verdict() string {
	out := fmt.Sprintf("%s of a window of %s are in use (%s)", Count(in.Live, "token"), Thousands(in.Window), percent(in.Live, in.Window))
	if len(in.Categories) > 0 && in.Tokens > 0 {
		c := &in.Categories[0]
		out += fmt.Sprintf("; %s of the transcript are %s", percent(c.Tokens, in.Tokens), c.Name)
	}
	if stale := in.Superseded + in.Duplicate; stale >= 0.01 {
		out += fmt.Sprintf("; %.0f%% of what tools returned is out of date or stands there twice", 100*stale)
	}
	return out + "."
}

// textOf returns what a part of a text would write.
func textOf(write func(*printer)) string {
	var b bytes.Buffer
	write(&printer{Writer: &b})
	return b.String()
}

// sentences returns the lines of a part of a text in one paragraph.
func sentences(write func(*printer)) string {
	var out []string
	for line := range strings.Lines(textOf(write)) {
		out = append(out, strings.TrimSpace(line))
	}
	return strings.Join(out, "; ")
}
