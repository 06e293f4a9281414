package report

import (
	"fmt"

	"github.com/decantdev/decant/internal/htmlpage"
)

// Decisions are what each decision of one conversation has come to so far, those that were taken back included.
// They add up: what the decisions have saved less what they have cost, and Other, is Net.
type Decisions struct {
	Conversation string     `json:"conversation"`
	Decisions    []Decision `json:"decisions"` // in the order in which they were made
	Net          float64    `json:"net_usd"`
	Other        float64    `json:"other_usd"` // of Net, what none of them explains: decisions about what has been replaced since, calls of our own
}

// A Decision is what one decision has come to so far, at the prices of its model.
type Decision struct {
	ID       string  `json:"id"`
	Where    string  `json:"where"` // m12, or m3 to m40
	Kind     string  `json:"kind"`
	Reason   string  `json:"reason"`
	Handle   string  `json:"handle,omitempty"` // of the original
	Before   int     `json:"before"`           // tokens
	After    int     `json:"after"`
	Sent     int     `json:"sent"`        // requests that were made with it
	Over     int     `json:"over_window"` // of them, those that could not have been sent without
	Requests int     `json:"requests"`    // of them, those whose prompts were smaller for it
	Saved    float64 `json:"saved_usd"`
	Cost     float64 `json:"cost_usd"` // its share of what was written again
	Even     bool    `json:"broken_even"`
	Undone   string  `json:"undone,omitempty"` // when it was taken back
}

// net returns what the decision has saved, negative while it has cost more than it saved.
func (d *Decision) net() float64 { return d.Saved - d.Cost }

// even returns how many decisions have paid for themselves.
func (d *Decisions) even() (n int) {
	for i := range d.Decisions {
		if d.Decisions[i].Even {
			n++
		}
	}
	return n
}

// summary says in one line what the decisions come to.
func (d *Decisions) summary() string {
	return fmt.Sprintf("%s in %s, %s of them broken even; saved net %s, of it %s not by one of them",
		Count(len(d.Decisions), "decision"), d.Conversation, Thousands(d.even()), fine(d.Net), fine(d.Other))
}

// decisionHead returns the names of the columns of a list of decisions.
func decisionHead() []string {
	return []string{"where", "change", "before", "after", "requests", "saved", "cost", "net", "even", "why"}
}

// cells returns the columns of a decision.
func (d *Decision) cells() []string {
	return []string{
		d.Where, d.Kind, Thousands(d.Before), Thousands(d.After), Thousands(d.Requests),
		fine(d.Saved), fine(d.Cost), fine(d.net()), d.stand(), cut(d.Reason, 60),
	}
}

// stand says whether the decision has paid for itself, as far as there is something to say.
func (d *Decision) stand() string {
	switch {
	case d.Undone != "" && d.Sent == 0:
		return "taken back unsent"
	case d.Undone != "":
		return "taken back"
	case d.Sent == 0:
		return "not sent yet"
	case d.Sent == d.Over:
		return "needed"
	case d.Even:
		return "yes"
	}
	return "not yet"
}

func (d *Decisions) text(p *printer) {
	p.line("")
	p.line("%s", d.summary())
	if len(d.Decisions) == 0 {
		return
	}
	rows := [][]string{decisionHead()}
	for i := range d.Decisions {
		rows = append(rows, d.Decisions[i].cells())
	}
	p.table(rows, "ffrrRRrrLL")
}

// html writes the decisions as a chapter of a page.
func (d *Decisions) html(out *htmlpage.Page) {
	out.Add("<h2>Decisions</h2>\n<p>%s</p>\n"+`<div class="wide"><table>`+"\n<tr>", d.summary())
	for i, c := range decisionHead() {
		if i < 2 || i > 7 {
			out.Add(`<th class="word">%s`, c)
		} else {
			out.Add("<th>%s", c)
		}
	}
	out.Raw("</tr>\n")
	for i := range d.Decisions[:min(len(d.Decisions), mostListed)] {
		d.Decisions[i].html(out)
	}
	out.Raw("</table></div>\n")
	if more := len(d.Decisions) - mostListed; more > 0 {
		out.Add("<p>and %s more</p>\n", Thousands(more))
	}
}

// html writes a row of the table: words on the left, figures on the right, the reason broken into lines.
func (d *Decision) html(out *htmlpage.Page) {
	out.Raw("<tr>")
	for i, c := range d.cells() {
		switch {
		case i < 2, i == 8:
			out.Add(`<td class="word">%s`, c)
		case i == 9:
			out.Add(`<td class="text">%s`, c)
		default:
			out.Add("<td>%s", c)
		}
	}
	out.Raw("</tr>\n")
}

// fine writes an amount that may be small.
func fine(v float64) string {
	if v < 0 {
		return fmt.Sprintf("-$%.4f", -v)
	}
	return fmt.Sprintf("$%.4f", v)
}
