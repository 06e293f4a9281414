package deliver

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/decantdev/decant/internal/htmlpage"
	"github.com/decantdev/decant/internal/humanize"
)

//go:embed history.css
var historyStyle string

// A Past is a run that has ended, or was interrupted.
type Past struct {
	Run      string
	Began    time.Time
	Headline string
	Totals   Totals
}

// RunReport returns what it has used.
func (p *Past) RunReport() RunReport { return p.Totals.RunReport() }

// A bar is one of the drawing: the tokens for each error in a run.
type bar struct {
	X, Y, Width, Height float64
	Label               string
}

// Sizes of the drawing in its own units.
const (
	chartWidth  = 860.0
	chartHeight = 220.0
	chartFoot   = 20.0
	mostBars    = 60 // runs that are drawn, the newest
)

// A drawing is bars under a line that says how much the highest is.
type drawing struct {
	Width, Height, Foot float64
	Top                 string
	Bars                []bar
	First, Last         string // days
}

// WriteHistory writes a page about runs, given newest first: a table, and the tokens for each error drawn. It has no
// scripts, and nothing from elsewhere.
func WriteHistory(w io.Writer, all []Past) error {
	var out htmlpage.Page
	begin(&out, "Triage runs", historyStyle)
	if d := drawn(all); d != nil {
		d.html(&out)
	}
	out.Raw(`<div class="wide"><table>
<tr><th>run<th>tokens<th>per error<th>cost<th>answers per error<th>high confidence<th>seconds<th class="words">found
`)
	for i := range all {
		p := &all[i]
		r := p.RunReport()
		out.Add(`<tr><td>%s<br><span class="soft">%s</span><td>%s<td>%s<td>$%.4f<td>%.1f<td>%d<td>%.1f<td class="words">%s`+"\n",
			p.Run, day(p.Began), humanize.Thousands(r.TokensUsed), humanize.Thousands(r.PerError), r.CostPerRun, r.Iterations,
			r.HighConfidence, r.Seconds, p.Headline)
	}
	if len(all) == 0 {
		out.Raw(`<tr><td colspan="8">There are no runs yet.` + "\n")
	}
	out.Raw("</table></div>\n</html>\n")
	_, err := out.WriteTo(w)
	return err
}

// html writes the drawing.
func (d *drawing) html(out *htmlpage.Page) {
	out.Add(`<p class="soft">Tokens for each error, over the runs</p>
<svg viewBox="0 0 %v %v" role="img" aria-label="Tokens for each error, over the runs; %s at most">
<text x="0" y="12">%s</text><line x1="0" x2="%v" y1="%v" y2="%v"/>
`, d.Width, d.Height, d.Top, d.Top, d.Width, d.Foot, d.Foot)
	for _, b := range d.Bars {
		out.Add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s</title></rect>`+"\n", b.X, b.Y, b.Width,
			b.Height, b.Label)
	}
	out.Add(`<text x="0" y="214">%s</text><text x="%v" y="214" text-anchor="end">%s</text>`+"\n</svg>\n", d.First,
		d.Width, d.Last)
}

// drawn draws the runs that have investigated something, the oldest on the left; nil: there are none.
func drawn(all []Past) *drawing {
	d := &drawing{Width: chartWidth, Height: chartHeight, Foot: chartHeight - chartFoot}
	var runs []Past
	top := 0
	for _, p := range all {
		if p.Totals.Investigated > 0 && len(runs) < mostBars {
			runs = append(runs, p)
			top = max(top, p.RunReport().PerError)
		}
	}
	if top == 0 {
		return nil
	}
	slices.Reverse(runs)
	step := chartWidth / float64(len(runs))
	for i, p := range runs {
		r := p.RunReport()
		h := float64(r.PerError) / float64(top) * (chartHeight - 2*chartFoot)
		d.Bars = append(d.Bars, bar{X: float64(i)*step + .1*step, Y: d.Foot - h, Width: min(.8*step, 60), Height: h,
			Label: fmt.Sprintf("%s: %s tokens for each of %s, $%.4f", day(p.Began), humanize.Thousands(r.PerError),
				count(r.ErrorsAnalyzed, "error"), r.CostPerRun)})
	}
	d.Top, d.First, d.Last = humanize.Thousands(top), day(runs[0].Began), day(runs[len(runs)-1].Began)
	return d
}
