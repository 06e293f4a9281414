package report

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/internal/replay"
	"github.com/decantdev/decant/token"
)

// A Spending is what recorded sessions have cost, by the usage in their files, in US dollars.
type Spending struct {
	From, To time.Time `json:"-"` // what is counted: from the one on and before the other; zero: no limit

	Files    int           `json:"files"`
	Total    SpendingRow   `json:"total"`
	Modelled float64       `json:"answers_modelled_usd"` // part of it, for answers that are longer than was recorded as they began
	Copies   int           `json:"copies"`               // answers that stand in a file before, as in forks, and are not counted again
	Days     []SpendingRow `json:"days"`                 // UTC, by date; "-" where no time is recorded
	Models   []SpendingRow `json:"models"`
	Projects []SpendingRow `json:"projects"`                  // by directory
	Unpriced []string      `json:"unpriced,omitempty"`        // models without a known price, which cost nothing here
	Verified string        `json:"prices_verified,omitempty"` // the oldest day on which prices that count were looked up
	Skipped  []string      `json:"skipped,omitempty"`         // files that could not be read, and why

	By string `json:"-"` // the one table that is shown; empty: all

	seen map[string]bool // answers, by identity
}

// A SpendingRow is one day, model or project.
type SpendingRow struct {
	Name     string       `json:"name,omitempty"`
	Requests int          `json:"requests"`
	Usage    decant.Usage `json:"usage"`
	USD      float64      `json:"usd"`
}

// Add adds the answers of a session of a project that were recorded in the period. Those of an earlier session that it
// begins with a copy of count once.
func (s *Spending) Add(project string, c *decant.Conversation, models func(id string) token.Model) {
	s.Files++
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	for a := range cost.Answers(c, models) {
		id := replay.Identity(a.Message)
		switch {
		case a.Time.Before(s.From), !s.To.IsZero() && !a.Time.Before(s.To):
			continue
		case id != "" && s.seen[id]:
			s.Copies++
			continue
		}
		s.seen[id] = true
		s.add(project, &a)
	}
}

func (s *Spending) add(project string, a *cost.Answer) {
	day := "-"
	if !a.Time.IsZero() {
		day = a.Time.UTC().Format(time.DateOnly)
	}
	s.Total.add(a)
	s.Modelled += a.Modelled
	row(&s.Days, day).add(a)
	row(&s.Models, dash(a.From.ID)).add(a)
	row(&s.Projects, dash(project)).add(a)
	if a.Unpriced && !slices.Contains(s.Unpriced, a.From.ID) {
		s.Unpriced = append(s.Unpriced, a.From.ID)
	}
	s.Verified = older(s.Verified, a.From.Verified)
}

// row returns the row of a name, a new one if need be.
func row(rows *[]SpendingRow, name string) *SpendingRow {
	i := slices.IndexFunc(*rows, func(r SpendingRow) bool { return r.Name == name })
	if i < 0 {
		i = len(*rows)
		*rows = append(*rows, SpendingRow{Name: name})
	}
	return &(*rows)[i]
}

func (r *SpendingRow) add(a *cost.Answer) {
	r.Requests++
	r.Usage = r.Usage.Add(a.Billed)
	r.USD += a.USD
}

// Sort puts days in their order, and models and projects by what they cost.
func (s *Spending) Sort() {
	slices.SortFunc(s.Days, func(a, b SpendingRow) int { return cmp.Compare(a.Name, b.Name) })
	for _, rows := range [][]SpendingRow{s.Models, s.Projects} {
		slices.SortStableFunc(rows, func(a, b SpendingRow) int { return cmp.Compare(b.USD, a.USD) })
	}
}

// WriteText writes what was spent for a terminal.
func (s *Spending) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	p.line("%s spent in %s of %s, by the usage in them", usd(s.Total.USD), Count(s.Total.Requests, "request"), Count(s.Files, "session file"))
	if s.Modelled >= 0.005 {
		p.line("of it %s are modelled, for answers that are longer than was recorded as they began", usd(s.Modelled))
	}
	if s.Copies > 0 {
		p.line("%s of forks and resumed sessions are not counted again", Count(s.Copies, "copied answer"))
	}
	for _, m := range s.Unpriced {
		p.line("the prices of %s are not known: it counts nothing (--catalog FILE adds them)", dash(m))
	}
	if s.Verified != "" {
		p.line("at the list prices of each day, last verified on %s", s.Verified)
	}
	for _, t := range []struct {
		name string
		rows []SpendingRow
	}{{"day", s.Days}, {"model", s.Models}, {"project", s.Projects}} {
		if len(t.rows) == 0 || s.By != "" && s.By != t.name {
			continue
		}
		p.line("")
		cells := [][]string{{"by " + t.name, "requests", "input", "written", "read", "output", "spent"}}
		for i := range t.rows {
			cells = append(cells, t.rows[i].cells())
		}
		p.table(cells, "lRrRrRr")
	}
	for i, why := range s.Skipped {
		if i == 0 {
			p.line("")
		}
		p.line("not read: %s", why)
	}
	return p.err
}

func (r *SpendingRow) cells() []string {
	u := r.Usage
	return []string{r.Name, Thousands(r.Requests), Thousands(u.Input), Thousands(u.CacheWrite), Thousands(u.CacheRead), Thousands(u.Output), usd(r.USD)}
}
