package report

import (
	"io"

	"github.com/decantdev/decant/internal/htmlpage"
)

// WriteHTML writes the report as one page without scripts that needs no network.
func (l *Ledger) WriteHTML(w io.Writer) error {
	var out htmlpage.Page
	begin(&out, "Decant report")
	out.Add("<p>%s: %s</p>\n"+`<div class="charts"><div class="wide"><table>`+"\n", l.period(), l.verdict())
	for _, f := range append(l.facts(), l.sizes()...) {
		out.Add(`<tr><td>%s<td class="text">%s</tr>`+"\n", f[0], f[1])
	}
	chart := l.chart()
	out.Add("</table></div><div>%s", chart)
	if !chart.Empty() {
		out.Raw(`<p class="keys"><span><span class="key c0"></span>would have cost</span>` +
			`<span><span class="key c5"></span>spent</span></p>`)
	}
	out.Raw("</div></div>\n")
	if l.Decisions != nil {
		l.Decisions.html(&out)
	}
	for _, g := range l.groups() {
		out.Add("<h2>By %s</h2>\n", g.Name)
		table(&out, g.Head(), g.Cells())
	}
	if l.Writes != nil {
		out.Raw("<h2>Written to the cache</h2>\n")
		table(&out, l.Writes.Head(), l.Writes.Cells())
	}
	out.Raw("</html>\n")
	_, err := out.WriteTo(w)
	return err
}

// chart draws what was spent and what would have been, day by day.
func (l *Ledger) chart() htmlpage.HTML {
	c := lines{title: "Dollars so far", unit: "with and without Decant", axisName: "day"}
	spent, bare := curve{name: "spent", class: "c5"}, curve{name: "would have cost", class: "c0"}
	var a, b float64
	for i := range l.Days {
		a, b = a+l.Days[i].Spent, b+l.Days[i].Bare
		spent.y, bare.y = append(spent.y, a), append(bare.y, b)
	}
	c.curves = []curve{bare, spent}
	return c.svg()
}
