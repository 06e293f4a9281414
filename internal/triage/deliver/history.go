package deliver

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/decantdev/decant/internal/figure"
)

//go:embed history.html
var historyPage string

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

// WriteHistory writes a page about runs, given newest first: a table, and the tokens for each error drawn. It has no scripts, and nothing from elsewhere.
func WriteHistory(w io.Writer, all []Past) error {
	t, err := template.New("history").Funcs(template.FuncMap{"day": day, "thousands": figure.Thousands}).Parse(historyPage)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	page := struct {
		Runs    []Past
		Drawing *drawing
	}{all, drawn(all)}
	if err := t.Execute(w, page); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
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
			Label: fmt.Sprintf("%s: %s tokens for each of %s, $%.4f", day(p.Began), figure.Thousands(r.PerError), count(r.ErrorsAnalyzed, "error"), r.CostPerRun)})
	}
	d.Top, d.First, d.Last = figure.Thousands(top), day(runs[0].Began), day(runs[len(runs)-1].Began)
	return d
}
