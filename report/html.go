package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path"
	"strings"

	"github.com/decantdev/decant/replay"
)

//go:embed replay.html
var replayPage string

//go:embed page.css
var pageStyle string

// mostListed bounds the decisions that a page lists for one policy of one session; the rest is
// counted. JSON has all of them.
const mostListed = 2000

// WriteHTML writes one page with charts and every decision. It needs no network and no script, and
// follows the reader's light or dark colours.
func (r *Replay) WriteHTML(w io.Writer) error {
	t, err := template.New("replay").Funcs(template.FuncMap{
		"thousands": Thousands, "percent": Percent, "count": Count, "base": path.Base,
	}).Parse(replayPage)
	if err == nil {
		_, err = t.New("style").Parse(pageStyle)
	}
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	if err := t.Execute(w, r.page()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// page is what the template shows.
type page struct {
	*Replay
	Requests int
	Rows     []pageRow
	Cost     template.HTML
	Parts    template.HTML
	Sessions []pageSession
}

type pageRow struct {
	replay.Result
	Class   string // of its colour
	Dollars string
	Share   string
}

type pageSession struct {
	*replay.Session
	Window template.HTML // prompt size over requests
	Spent  template.HTML // dollars over requests
	Lists  []pageList
}

type pageList struct {
	Policy string
	Log    []replay.Entry
	More   int
}

func (r *Replay) page() *page {
	p := &page{Replay: r}
	if len(r.Total) == 0 {
		return p
	}
	p.Requests = r.Total[0].Requests
	for i := range r.Total {
		p.Rows = append(p.Rows, row(i, &r.Total[i], &r.Total[0]))
	}
	p.Cost = costBars(r.Total).svg("Cost as a share of " + r.Total[0].Policy)
	p.Parts = tokenBars(r.Total).svg("Prompt tokens by how they were billed, millions")
	for _, s := range r.Sessions {
		p.Sessions = append(p.Sessions, pageOf(s))
	}
	return p
}

func row(i int, r, base *replay.Result) pageRow {
	out := pageRow{Result: *r, Class: class(i), Dollars: fmt.Sprintf("%.2f", r.USD), Share: fmt.Sprintf("%.3f", costShare(r, base))}
	if r.Unpriced {
		out.Dollars = "–"
	}
	return out
}

// class returns the CSS class of the i-th policy; its colour comes from a palette that readers with
// any common colour blindness can tell apart, and its dashes from the same class.
func class(i int) string { return fmt.Sprintf("c%d", i%8) }

func pageOf(s *replay.Session) pageSession {
	out := pageSession{Session: s}
	window := lines{title: "Prompt size", unit: "thousand tokens", limit: float64(s.Window) / 1e3, limitName: "window"}
	spent := lines{title: "Dollars so far", unit: "US dollars"}
	for i := range s.Results {
		r := &s.Results[i]
		sizes, sums := curve{name: r.Policy, class: class(i)}, curve{name: r.Policy, class: class(i)}
		sum := 0.0
		for _, q := range r.Series {
			sum += q.USD
			sizes.y, sums.y = append(sizes.y, float64(q.Prompt)/1e3), append(sums.y, sum)
			sizes.marks = append(sizes.marks, q.Pour != "")
		}
		window.curves, spent.curves = append(window.curves, sizes), append(spent.curves, sums)
		if len(r.Log) > 0 {
			n := min(len(r.Log), mostListed)
			out.Lists = append(out.Lists, pageList{r.Policy, r.Log[:n], len(r.Log) - n})
		}
	}
	out.Window, out.Spent = window.svg(), spent.svg()
	return out
}

func costBars(rs []replay.Result) barChart {
	var b barChart
	for i := range rs {
		b.rows = append(b.rows, bar{name: rs[i].Policy, parts: []barPart{{costShare(&rs[i], &rs[0]), class(i), ""}}, label: fmt.Sprintf("%.3f", costShare(&rs[i], &rs[0]))})
	}
	return b
}

func tokenBars(rs []replay.Result) barChart {
	b := barChart{legend: []barPart{{0, "read", "read from the cache"}, {0, "write", "written to the cache"}, {0, "plain", "neither"}}}
	for i := range rs {
		u := rs[i].Usage
		b.rows = append(b.rows, bar{
			name:  rs[i].Policy,
			parts: []barPart{{float64(u.CacheRead) / 1e6, "read", ""}, {float64(u.CacheWrite) / 1e6, "write", ""}, {float64(u.Input) / 1e6, "plain", ""}},
			label: fmt.Sprintf("%.1f", float64(u.Prompt())/1e6),
		})
	}
	return b
}

// escape makes text safe inside SVG.
func escape(s string) string { return template.HTMLEscapeString(s) }

// markup builds SVG.
type markup struct{ strings.Builder }

func (m *markup) add(format string, args ...any) { fmt.Fprintf(m, format, args...) }
