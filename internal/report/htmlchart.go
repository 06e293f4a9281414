package report

import (
	"cmp"
	"fmt"
	"math"

	"github.com/decantdev/decant/internal/htmlpage"
)

// Sizes of a chart in its own units; pages scale it to their width.
const (
	chartWidth  = 560
	chartHeight = 290
	padLeft     = 62
	padRight    = 14
	padTop      = 34
	padBottom   = 42
)

// lines is a chart of curves over the number of the request.
type lines struct {
	title, unit string
	curves      []curve
	limit       float64 // drawn across, 0: none
	limitName   string
	axisName    string // what the points are, "request" when empty
}

type curve struct {
	name, class string
	y           []float64
	marks       []string // what a dot on the curve says, empty: no dot
}

// svg draws the chart.
func (l *lines) svg() htmlpage.HTML {
	n, top := l.extent()
	if n < 2 {
		return htmlpage.HTML{}
	}
	step := niceStep(top / 4)
	top = step * math.Ceil(top/step)
	x := func(i int) float64 {
		return padLeft + float64(i)/float64(n-1)*(chartWidth-padLeft-padRight)
	}
	y := func(v float64) float64 { return chartHeight - padBottom - v/top*(chartHeight-padTop-padBottom) }
	var m htmlpage.Page
	m.Add(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s"><text class="title" x="%d" y="16">%s, %s</text>`,
		chartWidth, chartHeight, l.title, padLeft, l.title, l.unit)
	for v := 0.0; v <= top*1.0001; v += step {
		m.Add(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="tick end" x="%d" y="%.1f">%s</text>`,
			padLeft, chartWidth-padRight, y(v), y(v), padLeft-8, y(v)+4, number(v, step))
	}
	l.axis(&m, n, x)
	if l.limit > 0 && l.limit <= top {
		m.Add(`<line class="limit" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="tick" x="%d" y="%.1f">%s</text>`,
			padLeft, chartWidth-padRight, y(l.limit), y(l.limit), padLeft+6, y(l.limit)-5, l.limitName)
	}
	for _, c := range l.curves {
		c.draw(&m, x, y)
	}
	m.Add(`</svg>`)
	return m.HTML()
}

// extent returns the number of points and the largest value.
func (l *lines) extent() (n int, top float64) {
	for _, c := range l.curves {
		n = max(n, len(c.y))
		for _, v := range c.y {
			top = max(top, v)
		}
	}
	if l.limit > 0 && l.limit < 1.6*top {
		top = max(top, l.limit)
	}
	return n, max(top, 1e-6)
}

// axis draws the numbers of requests.
func (l *lines) axis(m *htmlpage.Page, n int, x func(int) float64) {
	step := max(1, int(niceStep(float64(n)/6)))
	for i := step; i <= n; i += step { // points are counted from 1
		m.Add(`<text class="tick mid" x="%.1f" y="%d">%d</text>`, x(i-1), chartHeight-padBottom+18, i)
	}
	m.Add(`<text class="tick mid" x="%d" y="%d">%s</text>`, (padLeft+chartWidth-padRight)/2, chartHeight-6,
		cmp.Or(l.axisName, "request"))
}

func (c *curve) draw(m *htmlpage.Page, x func(int) float64, y func(float64) float64) {
	m.Add(`<polyline class="line %s" points="`, c.class)
	for i, v := range c.y {
		m.Add("%.1f,%.1f ", x(i), y(v))
	}
	m.Add(`"><title>%s</title></polyline>`, c.name)
	for i, says := range c.marks {
		if says != "" {
			m.Add(`<circle class="dot %s" cx="%.1f" cy="%.1f" r="3.2"><title>%s</title></circle>`, c.class, x(i), y(c.y[i]),
				says)
		}
	}
}

// niceStep returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not under x.
func niceStep(x float64) float64 {
	if x <= 0 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		if f*p >= x*0.9999 {
			return f * p
		}
	}
	return 10 * p
}

// number writes a tick with the digits that its step needs.
func number(v, step float64) string {
	digits := max(0, int(math.Ceil(-math.Log10(step))))
	if math.Abs(step-math.Round(step)) > 1e-9 && digits == 0 {
		digits = 1
	}
	return fmt.Sprintf("%.*f", digits, v)
}
