package report

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/decantdev/decant/internal/htmlpage"
	"github.com/decantdev/decant/internal/replay"
)

//go:embed page.css
var pageStyle string

// mostListed bounds the decisions that a page lists for one policy of one session; the rest is
// counted. JSON has all of them.
const mostListed = 2000

// WriteHTML writes one page that begins with the verdict, with an index of the sessions, charts and every
// decision. It needs no network and no script, and follows the reader's light or dark colours.
func (r *Replay) WriteHTML(w io.Writer) error {
	var out htmlpage.Page
	begin(&out, "Decant replay")
	r.page().write(&out)
	out.Raw("</html>\n")
	_, err := out.WriteTo(w)
	return err
}

// page is what the page of a replay shows.
type page struct {
	*Replay
	Requests int
	Rows     []pageRow
	Legend   []string
	Best     string // policy of the verdict, empty when there is none
	Listed   []pageSession
}

type pageRow struct {
	replay.Result
	Key     htmlpage.HTML // the policy's line, as in the charts
	Dollars string
	Share   string
}

type pageSession struct {
	*replay.Session
	ID     string // of its place on the page
	Title  string
	Paid   string
	Model  string
	Error  string
	Over   string
	Rows   []pageRow
	Best   *pageRow      // of the policy of the verdict, nil when there is none
	Window htmlpage.HTML // prompt size over requests
	Spent  htmlpage.HTML // dollars over requests
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
	colours := palette(r.Total)
	p.Requests, p.Legend = r.Total[0].Requests, r.legend()
	p.Rows = rows(r.Total, colours)
	if i := r.chosen(); i >= 0 {
		p.Best = r.Total[i].Policy
	}
	for i, s := range r.Sessions {
		p.Listed = append(p.Listed, pageOf(s, i+1, r.chosen(), colours))
	}
	return p
}

func rows(rs []replay.Result, colours map[string]string) (out []pageRow) {
	for i := range rs {
		r := &rs[i]
		row := pageRow{Result: *r, Key: keyLine(colours[r.Policy]), Dollars: money(r.USD, r.Unpriced), Share: ratio(costShare(r, &rs[0]))}
		row.Series, row.Log = nil, nil
		out = append(out, row)
	}
	return out
}

// keyLine draws a piece of a policy's line, with its colour and its dashes.
func keyLine(class string) htmlpage.HTML {
	var p htmlpage.Page
	p.Add(`<svg class="key" viewBox="0 0 30 10" aria-hidden="true">`+
		`<line class="line %s" x1="0" x2="30" y1="5" y2="5"/></svg>`, class)
	return p.HTML()
}

// fixedColours are those of the policies that are usually compared, so that they look the same on every page.
var fixedColours = map[string]string{
	"none": "c0", "client": "c1", "trim": "c2", "keep-last-10": "c3", "default:low": "c4", "default": "c5", "default:high": "c6", "drop-oldest": "c7",
}

// palette returns the CSS class of each policy; its colour comes from a palette that readers with any common
// colour blindness can tell apart, and its dashes from the same class.
func palette(rs []replay.Result) map[string]string {
	out, taken := map[string]string{}, map[string]bool{}
	for i := range rs {
		if c, ok := fixedColours[rs[i].Policy]; ok {
			out[rs[i].Policy], taken[c] = c, true
		}
	}
	next := 0
	for i := range rs {
		if out[rs[i].Policy] != "" {
			continue
		}
		for n := 0; n < 8 && taken[colour(next)]; n++ {
			next++
		}
		out[rs[i].Policy], taken[colour(next)] = colour(next), true
		next++
	}
	return out
}

func colour(i int) string { return fmt.Sprintf("c%d", i%8) }

func pageOf(s *replay.Session, n, best int, colours map[string]string) pageSession {
	out := pageSession{
		Session: s, ID: fmt.Sprintf("s%d", n), Title: sessionName(s.Name), Over: firstOver(s), Rows: rows(s.Results, colours),
	}
	out.Paid, out.Model, out.Error = against(s.Recorded)
	if best >= 0 {
		out.Best = &out.Rows[best]
	}
	window := lines{title: "Prompt size", unit: "thousand tokens", limit: float64(s.Window) / 1e3, limitName: "window"}
	spent := lines{title: "Dollars so far", unit: "US dollars"}
	for i := range s.Results {
		r := &s.Results[i]
		sizes, sums := curves(r, colours[r.Policy])
		window.curves, spent.curves = append(window.curves, sizes), append(spent.curves, sums)
		if len(r.Log) > 0 {
			n := min(len(r.Log), mostListed)
			out.Lists = append(out.Lists, pageList{r.Policy, r.Log[:n], len(r.Log) - n})
		}
	}
	out.Window, out.Spent = window.svg(), spent.svg()
	return out
}

// curves returns how a policy's prompts and its bill grew.
func curves(r *replay.Result, class string) (sizes, sums curve) {
	sizes, sums = curve{name: r.Policy, class: class}, curve{name: r.Policy, class: class}
	sum := 0.0
	for i := range r.Series {
		q := &r.Series[i]
		sum += q.USD
		sizes.y, sums.y = append(sizes.y, float64(q.Prompt)/1e3), append(sums.y, sum)
		mark := ""
		if q.Pour != "" {
			mark = fmt.Sprintf("%s: pour (%s) at request %d, m%d", r.Policy, q.Pour, i+1, q.Message)
		}
		sizes.marks = append(sizes.marks, mark)
	}
	return sizes, sums
}
