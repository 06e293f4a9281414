package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/decantdev/decant/internal/htmlpage"
)

// WriteInspections writes one page about files that were inspected. It needs no network and no script,
// and follows the reader's light or dark colours.
func WriteInspections(w io.Writer, ins []*Inspection) error {
	var out htmlpage.Page
	begin(&out, "Decant inspect")
	pages := make([]inspected, len(ins))
	for i, in := range ins {
		pages[i] = inspected{in, fmt.Sprintf("file-%d", i+1)}
	}
	if len(pages) > 1 {
		writeFiles(&out, pages)
	}
	for i := range pages {
		pages[i].write(&out)
		if len(pages) > 1 {
			out.Raw(`<p><a href="#index">All files</a></p>` + "\n")
		}
	}
	out.Raw("</html>\n")
	_, err := out.WriteTo(w)
	return err
}

// writeFiles writes a table of the files, with a link to each.
func writeFiles(out *htmlpage.Page, pages []inspected) {
	out.Raw(`<div class="wide"><table id="index">
<tr><th>file<th>messages<th>in the transcript<th>in the context<th>window</tr>
`)
	for i := range pages {
		p := &pages[i]
		out.Add(`<tr><td><a href="#%s">%s</a><td>%s<td>%s<td>%s<td>%s</tr>`+"\n",
			p.Anchor, p.Name, Thousands(p.Messages), Thousands(p.Tokens), Thousands(p.Live), Thousands(p.Window))
	}
	out.Raw("</table></div>\n")
}

// inspected is what the page shows of one file.
type inspected struct {
	*Inspection
	Anchor string
}

// write writes the chapter of a file.
func (p inspected) write(out *htmlpage.Page) {
	out.Add(`<h2 id="%s">%s</h2>
<p class="verdict">%s</p>
<p>%s</p>
<div class="charts"><div class="wide"><table>
<tr><th>where the tokens went<th>tokens<th>share</tr>
`, p.Anchor, p.Name, p.Verdict(), p.about())
	for _, c := range p.Categories {
		out.Add("<tr><td>%s<td>%s<td>%s</tr>\n", c.Name, Thousands(c.Tokens), percent(c.Tokens, p.Tokens))
	}
	out.Add("</table></div><div>%s</div></div>\n", p.chart())
	p.writeTools(out)
	p.writeReads(out)
	if w := p.Writes; w != nil {
		table(out, w.Head(), w.Cells())
	}
	for _, text := range p.notes() {
		out.Add(`<p class="note">%s</p>`+"\n", text)
	}
}

// writeTools writes how much each tool was used.
func (p inspected) writeTools(out *htmlpage.Page) {
	if len(p.Tools) == 0 {
		return
	}
	out.Raw(`<div class="wide"><table>
<tr><th>tool<th class="word">class<th>calls<th>errors<th>arguments<th>results<th>share</tr>
`)
	for _, t := range p.Tools {
		out.Add(`<tr><td>%s<td class="word">%s<td>%s<td>%s<td>%s<td>%s<td>%s</tr>`+"\n", t.Name, t.Class,
			Thousands(t.Calls),
			Thousands(t.Errors), Thousands(t.Arguments), Thousands(t.Results), percent(t.Results, p.Results))
	}
	out.Raw("</table></div>\n")
}

// writeReads writes which files were read most, and the largest results.
func (p inspected) writeReads(out *htmlpage.Page) {
	if len(p.Files) > 0 {
		out.Raw(`<div class="wide"><table>` + "\n<tr><th>file<th>reads<th>changes<th>tokens</tr>\n")
		for _, f := range p.Files {
			out.Add(`<tr><td class="text">%s<td>%s<td>%s<td>%s</tr>`+"\n", f.Path, Thousands(f.Reads), Thousands(f.Changes),
				Thousands(f.Tokens))
		}
		out.Raw("</table></div>\n")
	}
	if len(p.Largest) > 0 {
		out.Raw(`<div class="wide"><table>
<tr><th>largest results<th class="word">tool<th class="word">about<th>tokens</tr>
`)
		for _, l := range p.Largest {
			out.Add(`<tr><td>%s<td class="word">%s<td class="text about">%s<td>%s</tr>`+"\n", l.Message, l.Tool, l.About,
				Thousands(l.Tokens))
		}
		out.Raw("</table></div>\n")
	}
}

// about returns the lines that the text begins with, as sentences.
func (p inspected) about() string { return sentences(p.head) }

// notes returns the lines that the text ends with.
func (p inspected) notes() []string {
	var out []string
	for line := range strings.Lines(textOf(func(t *printer) { p.findings(t); p.money(t) })) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return append(out, p.Warnings...)
}

// chart draws how full the window was when the model answered.
func (p inspected) chart() htmlpage.HTML {
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
