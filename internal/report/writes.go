package report

import (
	"cmp"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// A Rewrite is tokens that one request of a recorded session wrote to the cache although they had been there, or could
// have been.
type Rewrite struct {
	Message string `json:"message"` // the answer
	cause.Part
}

// Writes says why tokens were written to the prompt cache.
type Writes struct {
	Name    string      `json:"name,omitzero"` // of the project; empty: of all
	Causes  cause.Table `json:"causes"`
	Largest []Rewrite   `json:"largest,omitempty"` // of a recorded session
}

// mostRewrites is how many of the largest rewrites are shown.
const mostRewrites = 10

// leastRewrite is how many tokens one must have to be shown.
const leastRewrite = 1000

// WritesOf returns why a recorded session wrote to the cache what it wrote, at the prices of the models that answered;
// nil when its usage says nothing of a cache.
func WritesOf(c *decant.Conversation, models func(id string) token.Model) *Writes {
	out := &Writes{}
	for _, r := range cause.Recorded(c) {
		m := r.Message
		out.Causes.Add(r.Parts, models(m.Model), cost.Terms{At: cost.Day(m.Time)})
		for _, p := range r.Parts {
			if p.Kind.Avoidable() && p.Tokens >= leastRewrite {
				out.Largest = append(out.Largest, Rewrite{m.Name(), p})
			}
		}
	}
	if len(out.Causes) == 0 {
		return nil
	}
	slices.SortStableFunc(out.Largest, func(a, b Rewrite) int { return cmp.Compare(b.Tokens, a.Tokens) })
	out.Largest = out.Largest[:min(mostRewrites, len(out.Largest))]
	return out
}

// AddWrites adds why requests of a project wrote to the cache what they wrote. sub names the sub-agent that made them; it
// is empty for an agent that a user talks with.
func (l *Ledger) AddWrites(project, sub string, t cause.Table) {
	if len(t) == 0 {
		return
	}
	if l.Writes == nil {
		l.Writes = &Writes{}
	}
	l.Writes.Causes.Join(t)
	joined(&l.ProjectWrites, project, t)
	if sub == "" {
		joined(&l.AgentWrites, mainAgents, t)
		return
	}
	joined(&l.AgentWrites, subAgents, t)
	joined(&l.SubAgents, sub, t)
}

// The rows of Ledger.AgentWrites.
const (
	mainAgents = "main agents"
	subAgents  = "sub-agents"
)

// joined adds a table to the one of a name, a new one if need be.
func joined(to *[]Writes, name string, t cause.Table) {
	i := slices.IndexFunc(*to, func(w Writes) bool { return w.Name == name })
	if i < 0 {
		i = len(*to)
		*to = append(*to, Writes{Name: name})
	}
	(*to)[i].Causes.Join(t)
}

// writesHead are the columns of the table of causes.
var writesHead = []string{"written to the cache because", "requests", "tokens", "share", "cost", "more than read"}

// Head returns the names of the columns.
func (w *Writes) Head() []string { return writesHead }

// Cells returns a row for each cause.
func (w *Writes) Cells() (out [][]string) {
	written, _ := w.Causes.Tokens()
	for _, s := range w.Causes {
		out = append(out, []string{string(s.Kind), Thousands(s.Requests), Thousands(s.Tokens), percent(s.Tokens, written), amount(s.USD, s.Unpriced), amount(s.Extra, s.Unpriced)})
	}
	return out
}

// amount writes an amount, or "-" where prices are not known or it is nothing.
func amount(v float64, unknown bool) string {
	if unknown || v == 0 {
		return "-"
	}
	return usd(v)
}

// text writes the table, and the largest rewrites of a recorded session.
func (w *Writes) text(p *printer) {
	if w == nil || len(w.Causes) == 0 {
		return
	}
	p.line("")
	p.table(append([][]string{w.Head()}, w.Cells()...), "lRrRrR")
	for _, r := range w.Largest {
		p.line("  %s: %s tokens, %s%s", r.Message, Thousands(r.Tokens), r.Kind, detail(r.Detail))
	}
}

// detail writes what more is known of a cause.
func detail(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// again is what one of several wrote to the cache again.
type again struct {
	name           string
	written, again int
	extra          float64 // dollars, beyond reading it
	unknown        bool    // prices
	worst          cause.Sum
}

// again sums up what was written again.
func (w *Writes) again() again {
	a := again{name: w.Name}
	for _, s := range w.Causes {
		a.written += s.Tokens
		if !s.Kind.Avoidable() {
			continue
		}
		a.again, a.extra, a.unknown = a.again+s.Tokens, a.extra+s.Extra, a.unknown || s.Unpriced
		if s.Tokens > a.worst.Tokens {
			a.worst = s
		}
	}
	return a
}

// row returns the cells of a row.
func (a *again) row() []string {
	return []string{a.name, Thousands(a.written), percent(a.again, a.written), amount(a.extra, a.unknown), string(a.worst.Kind)}
}

// againBy returns a table of those that wrote something again, with the cause that cost most; nil when none did.
func againBy(what string, ws []Writes) (out [][]string) {
	for i := range ws {
		if a := ws[i].again(); a.again > 0 {
			out = append(out, a.row())
		}
	}
	if len(out) == 0 {
		return nil
	}
	return slices.Insert(out, 0, []string{"by " + what, "written", "of it again", "more than read", "mostly because"})
}

// mostSubAgents is how many sub-agents are shown.
const mostSubAgents = 5

// againByAgent is againBy of agents, with the sub-agents that wrote most again; nil where there are no sub-agents.
func (l *Ledger) againByAgent() [][]string {
	if len(l.SubAgents) == 0 {
		return nil
	}
	out := againBy("agent", l.AgentWrites)
	var subs []again
	for i := range l.SubAgents {
		if a := l.SubAgents[i].again(); a.again > 0 {
			a.name = "  " + a.name
			subs = append(subs, a)
		}
	}
	slices.SortStableFunc(subs, func(a, b again) int { return cmp.Compare(b.again, a.again) })
	for i := range subs[:min(mostSubAgents, len(subs))] {
		out = append(out, subs[i].row())
	}
	return out
}
