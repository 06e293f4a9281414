package report

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/decantdev/decant"
)

// A Plan is a plan for one conversation, for people and programs.
type Plan struct {
	Name    string `json:"name"`             // as the conversation was asked for
	Version int64  `json:"version,omitzero"` // of the stored conversation that it was made for; 0: of a file
	*decant.Plan
	Hold bool `json:"hold"` // whether nothing more is left out afterwards unless it must be
}

// WriteText writes the plan for people, with each decision.
func (r *Plan) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	p.line("%s: %s", r.Name, r.Reason)
	if len(r.Decisions) == 0 {
		return p.err
	}
	r.decisions(p)
	r.sizes(p)
	r.price(p)
	r.facts(p)
	for _, n := range r.Notes {
		p.line("note: %s", n)
	}
	if r.Hold {
		p.line("on hold afterwards: nothing more is left out before the window is full; \"decant release\" ends that")
	}
	return p.err
}

func (r *Plan) decisions(p *printer) {
	rows := [][]string{{"", "change", "tokens", "", "original", "why"}}
	notes := map[string]int{} // what changes no block by itself, and how often
	var order []string
	for i := range r.Decisions {
		d := &r.Decisions[i]
		if d.Target.Message > 0 || d.Checkpoint != nil {
			rows = append(rows, decisionRow(d))
			continue
		}
		if d.Kind == decant.Hold {
			continue // said at the end
		}
		if notes[d.Reason]++; notes[d.Reason] == 1 {
			order = append(order, d.Reason)
		}
	}
	if len(rows) > 1 {
		p.table(rows, "rfrfFl")
	}
	for _, reason := range order {
		if n := notes[reason]; n > 1 || len(order) > 1 {
			p.line("  %4d  %s", n, reason)
		} else {
			p.line("  %s", reason)
		}
	}
}

func decisionRow(d *decant.Decision) []string {
	what, where := string(d.Kind), ""
	if d.Target.Message > 0 {
		where = fmt.Sprintf("m%d", d.Target.Message)
	}
	before, after := Thousands(d.Before), "-> "+Thousands(d.After)
	if d.Before+d.After == 0 {
		before, after = "", ""
	}
	if cp := d.Checkpoint; cp != nil {
		where = fmt.Sprintf("m%d to m%d", cp.From, cp.To)
	}
	return []string{where, what, before, after, string(d.Handle), cut(cmp.Or(d.Reason, string(d.Reduction)), 60)}
}

func (r *Plan) sizes(p *printer) {
	p.line("messages: %s before, %s after%s; window %s", Count(r.Before.Messages, "token"), Thousands(r.After.Messages),
		r.fixed(), Thousands(r.Window))
}

func (r *Plan) fixed() string {
	if r.Before.Fixed == 0 {
		return ""
	}
	return fmt.Sprintf(", besides %s of system prompt and tools", Thousands(r.Before.Fixed))
}

// price says what the plan costs once and what it saves, or costs, with each later request.
func (r *Plan) price(p *printer) {
	price := &r.Price
	if price.Saved == 0 && price.CacheLost == 0 {
		p.line("price now: nothing")
		return
	}
	known := price.SaveUSD != 0
	now := "nothing that the provider has cached is written anew"
	if price.CacheLost > 0 {
		now = Thousands(price.CacheLost) + " tokens of the provider's cache are written anew"
	}
	p.line("price now: %s%s", now, dollars(known, price.CostUSD))
	more := "less"
	if price.Saved < 0 {
		more = "more"
	}
	p.line("later: every request reads %s %s%s%s", Count(max(price.Saved, -price.Saved), "token"), more,
		dollars(known, math.Abs(price.SaveUSD)), r.earned())
	if !known {
		p.line("dollars: unknown, the catalogue has no prices for model %q", r.Model)
	}
}

// dollars writes an amount behind what it is for; nothing when it is not known.
func dollars(known bool, usd float64) string {
	if !known {
		return ""
	}
	return fmt.Sprintf(", $%.4f", usd)
}

// earned says when a saving has paid for itself.
func (r *Plan) earned() string {
	switch {
	case r.Price.Saved <= 0:
		return ""
	case r.Price.BreakEven < 0:
		return "; that is never earned back"
	case r.Price.BreakEven == 0:
		return "; it pays from the first one on"
	}
	return "; paid for after " + plural(r.Price.BreakEven, "request")
}

// facts lists what the model would have to look up again.
func (r *Plan) facts(p *printer) {
	if len(r.Risk) == 0 {
		return
	}
	const most = 10
	p.line("kept: %s of the exact strings with their context; at risk are %s, heaviest first:", portion(r.Score), plural(len(r.Risk), "fact"))
	for i, f := range heaviest(r.Risk) {
		if i == most {
			p.line("  and %s more: --json lists them", Thousands(len(r.Risk)-most))
			break
		}
		p.line("  %-12s %-5s %s", f.Kind, fmt.Sprintf("m%d", f.Message), clip(f.Text, 80))
	}
}
