package report

import (
	"cmp"

	"github.com/decantdev/decant/internal/htmlpage"
	"github.com/decantdev/decant/internal/replay"
)

// begin writes the beginning of a page.
func begin(out *htmlpage.Page, title string) {
	out.Add(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
`, title)
	out.Style(pageStyle)
	out.Add("</style>\n<h1>%s</h1>\n", title)
}

// table writes rows of text under a head.
func table(out *htmlpage.Page, head []string, rows [][]string) {
	out.Raw(`<div class="wide"><table>` + "\n<tr>")
	for _, c := range head {
		out.Add("<th>%s", c)
	}
	out.Raw("</tr>\n")
	for _, row := range rows {
		out.Raw("<tr>")
		for _, c := range row {
			out.Add("<td>%s", c)
		}
		out.Raw("</tr>\n")
	}
	out.Raw("</table></div>\n")
}

// write writes what the page shows under its title.
func (p *page) write(out *htmlpage.Page) {
	if v := p.Verdict; v != "" {
		out.Add(`<p class="verdict">%s</p>`+"\n", v)
	}
	out.Add("<p>%s, %s, played through %d policies.</p>\n", Count(len(p.Sessions), "session"), Count(p.Requests,
		"request"), len(p.Rows))
	p.writeTotals(out)
	for _, text := range p.Notes {
		out.Add(`<p class="note">%s</p>`+"\n", text)
	}
	for _, text := range p.Skipped {
		out.Add(`<p class="note">left out: %s</p>`+"\n", text)
	}
	if len(p.Listed) > 1 {
		p.writeIndex(out)
	}
	for i := range p.Listed {
		p.Listed[i].write(out, len(p.Listed) > 1)
	}
}

// writeTotals writes the table of all sessions together.
func (p *page) writeTotals(out *htmlpage.Page) {
	out.Raw(`<div class="wide"><table>
<tr><th>policy<th>tokens<th>dollars<th>cost<th>cached<th>busts<th>pours<th>peak<th>over<th>illegal<th>recall<th>grounded<th>later<th>at risk</tr>
`)
	for i := range p.Rows {
		r := &p.Rows[i]
		u := r.Usage
		out.Add("<tr><td>%s%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>%d<td>%s<td>", r.Key, r.Policy, Thousands(u.Prompt()),
			r.Dollars, r.Share,
			share(u.CacheRead, u.Prompt()), Thousands(r.Busts), r.Pours(), Thousands(r.Peak))
		writeOver(out, &r.Result)
		out.Add("<td>%d<td>%s<td>%s<td>%s<td>%d of %d</tr>\n", r.Illegal, ratio(r.Recall()), ratio(r.GroundedRecall()),
			later(&r.Result), r.AtRisk, r.Facts)
	}
	out.Raw("</table></div>\n")
	for _, text := range p.Legend {
		out.Add("<p>%s</p>\n", text)
	}
}

// writeOver writes how many prompts in a row were larger than the window, and the first of them.
func writeOver(out *htmlpage.Page, r *replay.Result) {
	if r.Burst == 0 {
		out.Raw("–")
		return
	}
	out.Add("%d", r.Burst)
	if r.FirstBurst != 0 {
		out.Add(", first request %d (m%d)", r.FirstBurst, r.FirstBurstAt)
	}
}

// writeIndex writes a table of the sessions, with a link to each.
func (p *page) writeIndex(out *htmlpage.Page) {
	out.Raw(`<h2 id="index">Sessions</h2>
<div class="wide"><table>
<tr><th>session<th>requests<th>cache<th>paid<th>model<th>error<th>over from`)
	if p.Best != "" {
		out.Add("<th>%s: cost<th>pours<th>recall<th>grounded", p.Best)
	}
	out.Raw("</tr>\n")
	for i := range p.Listed {
		s := &p.Listed[i]
		out.Add(`<tr><td><a href="#%s">%s</a><td>%d<td>%s<td>%s<td>%s<td>%s<td>%s`, s.ID, s.Title, s.Results[0].Requests,
			s.Lifetime,
			s.Paid, s.Model, s.Error, s.Over)
		if b := s.Best; b != nil {
			out.Add("<td>%s<td>%d<td>%s<td>%s", b.Share, b.Pours(), ratio(b.Recall()), ratio(b.GroundedRecall()))
		}
		out.Raw("</tr>\n")
	}
	out.Raw(`</table></div>
<p>paid: the prompts alone, by the usage that was recorded. model: the same by the model of sizes and cache, and its error. ` +
		`over from: the request and the message of the first prompt that is larger than the window, when everything is sent.</p>
`)
}

// write writes one session; several says that it is one of several.
func (s *pageSession) write(out *htmlpage.Page, several bool) {
	out.Add(`<h2 id="%s">%s</h2>`+"\n<p>", s.ID, s.Title)
	s.writeTerms(out)
	if several {
		out.Raw(` <a href="#index">All sessions</a>`)
	}
	out.Raw("</p>\n")
	if several {
		s.writeResults(out)
	}
	out.Raw(`<p class="keys">`)
	for i := range s.Rows {
		out.Add("<span>%s%s</span>", s.Rows[i].Key, s.Rows[i].Policy)
	}
	out.Add("</p>\n"+`<div class="charts"><div>%s</div><div>%s</div></div>`+"\n", s.Window, s.Spent)
	for i := range s.Lists {
		s.Lists[i].write(out)
	}
}

// writeTerms writes on which terms a session was played.
func (s *pageSession) writeTerms(out *htmlpage.Page) {
	out.Add("%s, window of %s tokens, cache entries of %s", s.Session.Model, Thousands(s.Session.Window), s.Lifetime)
	if s.LifetimeBy != "" {
		out.Add(" (%s)", s.LifetimeBy)
	}
	if n := s.Session.Compactions; n != 0 {
		out.Add("; %s of the client's own, which the policy client plays and the others do not", Count(n, "compaction"))
	}
	out.Raw(".")
	if s.Recorded != nil && s.Paid != "-" {
		out.Add(" Its prompts cost $%s by the recorded usage; the model says $%s, %s.", s.Paid, s.Model, s.Error)
	}
	if len(s.Lists) > 0 {
		out.Raw(" Dots are pours.")
	}
}

// writeResults writes what each policy made of a session.
func (s *pageSession) writeResults(out *htmlpage.Page) {
	out.Raw(`<div class="wide"><table>
<tr><th>policy<th>dollars<th>cost<th>pours<th>peak<th>over<th>illegal<th>recall<th>grounded<th>later<th>at risk</tr>
`)
	for i := range s.Rows {
		r := &s.Rows[i]
		out.Add("<tr><td>%s%s<td>%s<td>%s<td>%d<td>%s<td>", r.Key, r.Policy, r.Dollars, r.Share, r.Pours(), Thousands(r.Peak))
		writeOver(out, &r.Result)
		out.Add("<td>%d<td>%s<td>%s<td>%s<td>%d of %d</tr>\n", r.Illegal, ratio(r.Recall()), ratio(r.GroundedRecall()),
			later(&r.Result), r.AtRisk, r.Facts)
	}
	out.Raw("</table></div>\n")
}

// write writes what a policy decided, folded.
func (l *pageList) write(out *htmlpage.Page) {
	out.Add("<details><summary>%s: %s", l.Policy, Count(len(l.Log), "decision"))
	if l.More > 0 {
		out.Add(", and %d more", l.More)
	}
	out.Raw(`</summary><div class="wide"><table>
<tr><th>what<th>request<th>message<th class="word">about<th>pour<th>before<th>after<th class="word">why</tr>
`)
	for i := range l.Log {
		e := &l.Log[i]
		out.Add("<tr><td>%s<td>%d<td>", cmp.Or(string(e.Reduction), string(e.Kind)), e.Request)
		if e.Message != 0 {
			out.Add("m%d", e.Message)
		}
		out.Add(`<td class="text about">%s<td>%s<td>%s<td>%s<td class="text">%s</tr>`+"\n", e.About, e.Pour,
			Thousands(e.Before), Thousands(e.After), e.Reason)
	}
	out.Raw("</table></div></details>\n")
}
