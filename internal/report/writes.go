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

// AddWrites adds why a project wrote to the cache what it wrote.
func (l *Ledger) AddWrites(project string, t cause.Table) {
	if len(t) == 0 {
		return
	}
	if l.Writes == nil {
		l.Writes = &Writes{}
	}
	l.Writes.Causes.Join(t)
	i := slices.IndexFunc(l.ProjectWrites, func(w Writes) bool { return w.Name == project })
	if i < 0 {
		i = len(l.ProjectWrites)
		l.ProjectWrites = append(l.ProjectWrites, Writes{Name: project})
	}
	l.ProjectWrites[i].Causes.Join(t)
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

// projectWrites are the projects in which something was written again, with the cause that cost most.
func (l *Ledger) projectWrites() [][]string {
	out := [][]string{{"by project", "written", "of it again", "more than read", "mostly because"}}
	for i := range l.ProjectWrites {
		w := &l.ProjectWrites[i]
		written, again, extra, unknown := 0, 0, 0.0, false
		var worst cause.Sum
		for _, s := range w.Causes {
			written += s.Tokens
			if !s.Kind.Avoidable() {
				continue
			}
			again, extra, unknown = again+s.Tokens, extra+s.Extra, unknown || s.Unpriced
			if s.Tokens > worst.Tokens {
				worst = s
			}
		}
		if again > 0 {
			out = append(out, []string{w.Name, Thousands(written), percent(again, written), amount(extra, unknown), string(worst.Kind)})
		}
	}
	return out
}
