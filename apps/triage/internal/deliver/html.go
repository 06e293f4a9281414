package deliver

import (
	_ "embed"
	"io"
	"strings"

	"github.com/decantdev/decant/internal/htmlpage"
	"github.com/decantdev/decant/internal/humanize"
)

//go:embed page.css
var pageStyle string

// begin writes the beginning of a page: it may load nothing and run nothing.
func begin(out *htmlpage.Page, title, style string) {
	out.Add(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
`, title)
	out.Style(style)
	out.Add("</style>\n<h1>%s</h1>\n", title)
}

// WriteHTML writes the report as a page of its own: without scripts, and without anything from elsewhere.
func (r *Report) WriteHTML(w io.Writer) error {
	var out htmlpage.Page
	begin(&out, "Triage of "+day(r.Until), pageStyle)
	out.Add(`<p class="lead">%s</p>`+"\n", r.Headline())
	for _, text := range r.Notices {
		out.Add(`<p class="soft">%s</p>`+"\n", text)
	}
	for i := range r.Errors {
		if r.Errors[i].Finding != nil {
			r.Errors[i].html(&out)
		}
	}
	out.Raw("<article>\n")
	r.htmlRest(&out)
	out.Add(`<p class="soft">%s`, r.Spent())
	if text := r.Track.String(); text != "" {
		out.Add(" %s", text)
	}
	out.Add(" Run %s.</p>\n", r.Run)
	r.htmlLayers(&out)
	out.Raw("</article>\n</html>\n")
	_, err := out.WriteTo(w)
	return err
}

// html writes what an investigation has found.
func (e *ReportedError) html(out *htmlpage.Page) {
	f := e.Finding
	out.Add("<article>\n<h2>%d. %s</h2>\n"+`<p class="soft">%s%s</p>`+"\n", e.Number, e.Title(), happened(e),
		lastSeenText(*e))
	if e.Message != "" {
		out.Add("<pre>%s</pre>\n", e.Message)
	}
	why := f.Cause
	if why == "" {
		why = f.Error
	}
	out.Add("<p><strong>%s.</strong> %s</p>\n", verdict(f), why)
	for i := range f.Evidence {
		e.htmlEvidence(out, i)
	}
	e.htmlTerms(out)
	out.Raw("</article>\n")
}

// htmlEvidence writes a piece of evidence, linked where it can be seen.
func (e *ReportedError) htmlEvidence(out *htmlpage.Page, i int) {
	v := &e.Finding.Evidence[i]
	out.Raw("<div>")
	if address, ok := htmlpage.Link(link(*e, i)); ok {
		out.Add(`<a href="%s" rel="noreferrer">%s:%d</a>`, address, v.Path, v.Line)
	} else {
		out.Add("%s:%d", v.Path, v.Line)
	}
	if v.Says != "" {
		out.Add(": %s", v.Says)
	}
	out.Add("</div>\n<pre>%s</pre>\n", v.Text)
}

// htmlTerms writes what belongs to a finding: the fix, who brought the error in, what to do next, and so on.
func (e *ReportedError) htmlTerms(out *htmlpage.Page) {
	f := e.Finding
	out.Raw("<dl>\n")
	for _, t := range [][2]string{
		{"Fix", f.Fix}, {"Brought by", suspect(f.Suspect)}, {"Next", strings.Join(f.Next, "; ")}, {"Owner", e.Owner},
		{"Same cause as", related(f.Related)},
	} {
		if t[1] != "" {
			out.Add("<dt>%s<dd>%s\n", t[0], t[1])
		}
	}
	if t := e.Trial; t != nil {
		out.Add("<dt>Patch<dd>%s", t.Why)
		if t.Printed != "" {
			out.Add("<pre>%s</pre>", t.Printed)
		}
		out.Raw("\n")
	}
	for i := range f.Struck {
		s := &f.Struck[i]
		out.Add("<dt>Struck<dd>%s (%s)\n", s.Said(), s.Why)
	}
	out.Add("<dt>Used<dd>%s\n</dl>\n", used(f))
}

// htmlRest writes the errors that were not investigated.
func (r *Report) htmlRest(out *htmlpage.Page) {
	some := false
	for i := range r.Errors {
		e := &r.Errors[i]
		if e.Finding != nil {
			continue
		}
		if !some {
			out.Raw("<h2>Not investigated</h2>\n")
			some = true
		}
		out.Add("<p>%s, %s", e.Title(), happened(e))
		if e.Left != "" {
			out.Add(": %s", e.Left)
		}
		out.Raw("</p>\n")
	}
}

// htmlLayers writes what the context layers did, and what they saved.
func (r *Report) htmlLayers(out *htmlpage.Page) {
	if layers := r.Layers(); len(layers) > 0 {
		out.Raw(`<ul class="soft">` + "\n")
		for _, l := range layers {
			out.Add("<li>%s\n", l)
		}
		out.Raw("</ul>\n")
	}
	b := billOf(r)
	if b == nil {
		return
	}
	out.Add(`<p class="soft">%s</p>
<table class="soft"><tr><th>layer<th>without it<th>with only it
`, billText)
	for _, s := range b.Shares {
		out.Add("<tr><td>%s<td>%s<td>%s\n", s.Layer, humanize.Thousands(s.Without), humanize.Thousands(s.Only))
	}
	out.Add(`<tr><td>remainder<td><td>%s
</table>
<p class="soft">As it was %s; without these layers %s. The remainder is what they save together and not one by one.</p>
`, humanize.Thousands(b.Remainder), humanize.Thousands(b.On), humanize.Thousands(b.Off))
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
