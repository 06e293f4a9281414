package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed ledger.html
var ledgerPage string

// A Ledger is what a store says about a period: how large conversations were, what was left out of
// them, what that cost and saved. Amounts are in US dollars.
type Ledger struct {
	From string `json:"from"` // first day, empty: the beginning
	To   string `json:"to"`   // last day

	Conversations int `json:"conversations"`
	Compacted     int `json:"compacted"`      // that have decisions
	AverageTokens int `json:"average_tokens"` // of a conversation, all that is kept of it
	PeakTokens    int `json:"peak_prompt"`    // largest prompt that was sent
	Recovered     int `json:"tokens_recovered"`

	Requests  int     `json:"requests"`
	OwnCalls  int     `json:"own_calls"`
	Spent     float64 `json:"spent_usd"` // our own calls included
	Bare      float64 `json:"without_usd"`
	Own       float64 `json:"own_usd"`
	Rewritten float64 `json:"rewritten_usd"` // part of Spent: cache written again after pours

	ReadAgain       int `json:"read_again"`        // files that were read again after the result was left out: the price of forgetting
	ReadAgainTokens int `json:"read_again_tokens"` // that these reads brought

	Pours     []Pour     `json:"pours"`               // newest last
	Decisions *Decisions `json:"decisions,omitempty"` // of the one conversation that the report is about; nil: of all

	Days     []LedgerRow `json:"days"`
	Models   []LedgerRow `json:"models"`
	Projects []LedgerRow `json:"projects"`
}

// A Pour is what one rewrite of a conversation's history has come to so far, at the prices of its model.
type Pour struct {
	Conversation string  `json:"conversation"`
	Time         string  `json:"time"`
	Decisions    int     `json:"decisions"`
	Freed        int     `json:"freed_tokens"` // with every later request
	Again        int     `json:"rewritten_tokens"`
	Requests     int     `json:"requests_since"`
	Cost         float64 `json:"cost_usd"`  // booked for writing again what stood behind the first change
	Saved        float64 `json:"saved_usd"` // what the tokens freed would have cost in the requests since
	Even         bool    `json:"broken_even"`
}

// A LedgerRow is one day, model or project.
type LedgerRow struct {
	Name     string  `json:"name"`
	Requests int     `json:"requests"`
	Prompt   int     `json:"prompt_tokens"`
	Without  int     `json:"without_tokens"`
	Spent    float64 `json:"spent_usd"`
	Bare     float64 `json:"without_usd"`
}

// Net returns what was saved, negative when it cost more than it saved.
func (r *LedgerRow) Net() float64 { return r.Bare - r.Spent }

// Net returns what was saved.
func (l *Ledger) Net() float64 { return l.Bare - l.Spent }

// Add adds to the row of a name, a new one if need be. Rows stay in the order of their first mention.
func Add(rows []LedgerRow, r LedgerRow) []LedgerRow {
	for i := range rows {
		if old := &rows[i]; old.Name == r.Name {
			old.Requests += r.Requests
			old.Prompt += r.Prompt
			old.Without += r.Without
			old.Spent += r.Spent
			old.Bare += r.Bare
			return rows
		}
	}
	return append(rows, r)
}

func (l *Ledger) period() string {
	if l.From == "" {
		return "until " + l.To
	}
	return l.From + " to " + l.To
}

// facts are the lines of the summary, each with its name.
func (l *Ledger) facts() [][2]string {
	return [][2]string{
		{"conversations", fmt.Sprintf("%s, %s compacted", Thousands(l.Conversations), Percent(l.Compacted, l.Conversations))},
		{"tokens of a conversation", Thousands(l.AverageTokens) + " on average"},
		{"largest prompt", Thousands(l.PeakTokens) + " tokens"},
		{"tokens recovered", Thousands(l.Recovered)},
		{"requests", fmt.Sprintf("%s, and %s of our own", Thousands(l.Requests), Thousands(l.OwnCalls))},
		{"without Decant", usd(l.Bare)},
		{"spent", fmt.Sprintf("%s, of it %s for cache written again and %s for our own calls", usd(l.Spent), usd(l.Rewritten), usd(l.Own))},
		{"saved net", fmt.Sprintf("%s, %s", usd(l.Net()), Percent(int(1e4*l.Net()), int(1e4*l.Bare)))},
		{"pours", fmt.Sprintf("%s, of which %s broken even", Thousands(len(l.Pours)), Thousands(l.even()))},
		{"read again", fmt.Sprintf("%s, %s tokens", Count(l.ReadAgain, "file"), Thousands(l.ReadAgainTokens))},
	}
}

// even returns how many pours have paid for themselves.
func (l *Ledger) even() (n int) {
	for i := range l.Pours {
		if l.Pours[i].Even {
			n++
		}
	}
	return n
}

func usd(v float64) string {
	if v < 0 {
		return fmt.Sprintf("-$%.2f", -v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// groups are the tables, each with its name.
func (l *Ledger) groups() []ledgerGroup {
	return []ledgerGroup{{"model", l.Models}, {"project", l.Projects}, {"day", l.Days}}
}

type ledgerGroup struct {
	Name string
	Rows []LedgerRow
}

// WriteText writes the report for a terminal.
func (l *Ledger) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	p.line("Decant, %s", l.period())
	p.line("")
	for _, f := range l.facts() {
		p.line("%-26s %s", f[0], f[1])
	}
	if l.Decisions != nil {
		l.Decisions.text(p)
	}
	for _, g := range l.groups() {
		p.line("")
		p.line("%-26s %9s %14s %14s %10s %10s %10s", "by "+g.Name, "requests", "tokens", "without", "spent", "without", "saved")
		for i := range g.Rows {
			r := &g.Rows[i]
			p.line("%-26s %9s %14s %14s %10s %10s %10s", r.Name, Thousands(r.Requests), Thousands(r.Prompt), Thousands(r.Without), usd(r.Spent), usd(r.Bare), usd(r.Net()))
		}
	}
	return p.err
}

// WriteMarkdown writes the report for a wiki or a pull request.
func (l *Ledger) WriteMarkdown(w io.Writer) error {
	p := &printer{Writer: w}
	p.line("# Decant, %s", l.period())
	p.line("")
	p.line("| | |\n|---|---|")
	for _, f := range l.facts() {
		p.line("| %s | %s |", f[0], f[1])
	}
	if l.Decisions != nil {
		l.Decisions.markdown(p)
	}
	for _, g := range l.groups() {
		p.line("")
		p.line("| %s | requests | tokens | without | spent | without | saved |\n|---|---|---|---|---|---|---|", g.Name)
		for i := range g.Rows {
			r := &g.Rows[i]
			p.line("| %s | %s | %s | %s | %s | %s | %s |", r.Name, Thousands(r.Requests), Thousands(r.Prompt), Thousands(r.Without), usd(r.Spent), usd(r.Bare), usd(r.Net()))
		}
	}
	return p.err
}

// WriteHTML writes the report as one page without scripts that needs no network.
func (l *Ledger) WriteHTML(w io.Writer) error {
	t, err := template.New("ledger").Funcs(template.FuncMap{"thousands": Thousands, "dollars": usd}).Parse(ledgerPage)
	if err == nil {
		_, err = t.New("style").Parse(pageStyle)
	}
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	data := struct {
		Period    string
		Facts     [][2]string
		Groups    []ledgerGroup
		Chart     template.HTML
		Decisions *decisionPage
	}{l.period(), l.facts(), l.groups(), l.chart(), l.Decisions.page()}
	if err := t.Execute(w, data); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// chart draws what was spent and what would have been, day by day.
func (l *Ledger) chart() template.HTML {
	c := lines{title: "Dollars so far", unit: "with and without Decant", axisName: "day"}
	spent, bare := curve{name: "spent", class: "c5"}, curve{name: "without Decant", class: "c0"}
	var a, b float64
	for i := range l.Days {
		a, b = a+l.Days[i].Spent, b+l.Days[i].Bare
		spent.y, bare.y = append(spent.y, a), append(bare.y, b)
	}
	c.curves = []curve{bare, spent}
	return c.svg()
}
