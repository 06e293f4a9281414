package report

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/decantdev/decant/token"
)

// A Ledger is what a store says about a period: how large conversations were, what was left out of
// them, what that cost and saved. Amounts are in US dollars.
type Ledger struct {
	From string `json:"from"` // first day, empty: the beginning
	To   string `json:"to"`   // last day

	Conversations int `json:"conversations"`
	Compacted     int `json:"compacted"`        // that have decisions
	AverageTokens int `json:"average_tokens"`   // of a conversation, all that is kept of it
	PeakTokens    int `json:"peak_prompt"`      // largest prompt that was sent
	Recovered     int `json:"tokens_recovered"` // that the newest views lack now, each counted once

	Requests  int       `json:"requests"` // of clients
	OwnCalls  int       `json:"own_calls"`
	Spent     float64   `json:"spent_usd"`   // on everything, our own calls included
	Bare      float64   `json:"without_usd"` // what the clients' own requests would have cost, as far as they could have been sent
	Saved     float64   `json:"saved_usd"`   // Bare less what was spent on the same requests
	Own       float64   `json:"own_usd"`     // part of Spent
	Warm      Warm      `json:"keep_warm,omitzero"`
	Rewritten float64   `json:"rewritten_usd"` // part of Spent: cache written again after pours
	Over      Oversized `json:"over_window"`   // requests that could not have been sent without Decant
	Observed  Trials    `json:"observed"`      // requests that nothing was done about

	Writes        *Writes  `json:"cache_writes,omitempty"` // why tokens were written to the cache; nil: none were
	ProjectWrites []Writes `json:"project_writes,omitempty"`
	AgentWrites   []Writes `json:"agent_writes,omitempty"`     // of all main agents, and of all sub-agents
	SubAgents     []Writes `json:"sub_agent_writes,omitempty"` // of each sub-agent, by its conversation

	Unmarked Unmarked `json:"unmarked,omitzero"`         // what cache markers would have brought
	Retiring []string `json:"retiring,omitempty"`        // which of the models retire soon, and when
	Verified string   `json:"prices_verified,omitempty"` // the oldest day on which the models' prices were looked up

	ReadAgain       int `json:"read_again"`        // files that were read again after the result was left out, and originals fetched by their handles: the price of forgetting
	ReadAgainTokens int `json:"read_again_tokens"` // that these reads brought

	Pours     []Pour     `json:"pours"`               // newest last
	Decisions *Decisions `json:"decisions,omitempty"` // of the one conversation that the report is about; nil: of all

	Days     []LedgerRow `json:"days"`
	Models   []LedgerRow `json:"models"`
	Projects []LedgerRow `json:"projects"`
	Tenants  []LedgerRow `json:"tenants"`
	By       string      `json:"-"` // the one table that is shown; empty: model, project and day
	Full     bool        `json:"-"` // as text: everything, and not what fits a screen
}

// Warm are the calls of Decant's own that kept the provider's cache warm.
type Warm struct {
	Calls int     `json:"calls"`
	USD   float64 `json:"usd"` // part of what own calls cost
}

// Oversized are requests that no client could have sent as they were, because their prompts exceed the
// model's window. What these prompts would have cost is no amount that anybody would have paid.
type Oversized struct {
	Requests int     `json:"requests"`
	Prompt   int     `json:"prompt_tokens"`  // that were sent instead
	Without  int     `json:"without_tokens"` // of the prompts as they were
	Spent    float64 `json:"spent_usd"`      // on what was sent instead
}

// Add returns the sum of o and p.
func (o Oversized) Add(p Oversized) Oversized {
	return Oversized{o.Requests + p.Requests, o.Prompt + p.Prompt, o.Without + p.Without, o.Spent + p.Spent}
}

// A Pour is what one rewrite of a conversation's history has come to so far, at the prices of its model.
type Pour struct {
	Conversation string  `json:"conversation"`
	Time         string  `json:"time"`
	Decisions    int     `json:"decisions"`
	Freed        int     `json:"freed_tokens"` // with every later request
	Again        int     `json:"rewritten_tokens"`
	Requests     int     `json:"requests_since"`
	Over         int     `json:"over_window"` // of them, those that could not have been sent without
	Cost         float64 `json:"cost_usd"`    // booked for writing again what stood behind the first change
	Saved        float64 `json:"saved_usd"`   // what the tokens freed would have cost in the requests since
	Even         bool    `json:"broken_even"`
	Undone       string  `json:"undone,omitempty"` // when it was taken back
}

// A LedgerRow is one day, model, project or tenant.
type LedgerRow struct {
	Name     string    `json:"name"`
	Requests int       `json:"requests"`
	Prompt   int       `json:"prompt_tokens"`  // sent
	Without  int       `json:"without_tokens"` // as the clients sent them
	Spent    float64   `json:"spent_usd"`
	Bare     float64   `json:"without_usd"` // what those would have cost that could have been sent
	Over     Oversized `json:"over_window"` // the part that could not
}

// Net returns what was saved on requests that could have been sent without Decant, negative when it cost more
// than it saved.
func (r *LedgerRow) Net() float64 { return r.Bare - (r.Spent - r.Over.Spent) }

// Add adds to the row of a name, a new one if need be. Rows stay in the order of their first mention.
func Add(rows []LedgerRow, r LedgerRow) []LedgerRow {
	for i := range rows {
		if old := &rows[i]; old.Name == r.Name {
			old.Requests += r.Requests
			old.Prompt += r.Prompt
			old.Without += r.Without
			old.Spent += r.Spent
			old.Bare += r.Bare
			old.Over = old.Over.Add(r.Over)
			return rows
		}
	}
	return append(rows, r)
}

// Date notes what a catalogue says of the days of the models: which of them retire soon after now, and when their prices
// were looked up. Those that are retired already cannot be used any more.
func (l *Ledger) Date(c *token.Catalog, now time.Time) {
	for i := range l.Models {
		m, _ := c.Lookup(l.Models[i].Name)
		if m.Retires.After(now) && m.Retirement(now) != "" {
			l.Retiring = append(l.Retiring, m.Retirement(now))
		}
		l.Verified = older(l.Verified, m.Verified)
	}
}

// older returns the earlier of a day as it is written and another; an empty one and a zero one are none.
func older(day string, than time.Time) string {
	if text := than.Format(time.DateOnly); !than.IsZero() && (day == "" || text < day) {
		return text
	}
	return day
}

func (l *Ledger) period() string {
	if l.From == "" {
		return "until " + l.To
	}
	return l.From + " to " + l.To
}

// verdict says in a few words what the report comes to.
func (l *Ledger) verdict() string {
	what := fmt.Sprintf("%s of what the same requests would have cost", percent(int(1e4*math.Abs(l.Saved)), int(1e4*l.Bare)))
	if n := l.Over.Requests; n > 0 {
		what += fmt.Sprintf("; %s more could not have been sent without Decant", Count(n, "request"))
	}
	switch {
	case l.Requests == 0:
		return "nothing was sent"
	case l.Observed.Requests == l.Requests:
		return l.Observed.verdict()
	case l.Saved < 0:
		return fmt.Sprintf("%s lost, %s", usd(-l.Saved), what)
	}
	return fmt.Sprintf("%s saved, %s", usd(l.Saved), what)
}

// facts are the lines of the summary, each with its name: money first.
func (l *Ledger) facts() [][2]string {
	spent := fmt.Sprintf("%s, of it %s for cache written again and %s for Decant's own calls", usd(l.Spent), usd(l.Rewritten), usd(l.Own))
	if l.Over.Requests > 0 {
		spent += fmt.Sprintf(", %s on requests that could not have been sent", usd(l.Over.Spent))
	}
	out := [][2]string{
		{"would have cost", usd(l.Bare)},
		{"spent", spent},
		{"saved net", fmt.Sprintf("%s, %s", usd(l.Saved), percent(int(1e4*l.Saved), int(1e4*l.Bare)))},
	}
	if l.Verified != "" {
		out = append(out, [2]string{"prices", "list prices, last verified on " + l.Verified})
	}
	if l.Observed.Requests > 0 {
		out = append(out, [2]string{"would have saved", l.Observed.fact()})
	}
	if l.Warm.Calls > 0 {
		out = append(out, [2]string{"kept warm", fmt.Sprintf("%s to keep the cache warm, for %s of that", Count(l.Warm.Calls, "call"), usd(l.Warm.USD))})
	}
	if o := &l.Over; o.Requests > 0 {
		out = append(out, [2]string{"could not have been sent", fmt.Sprintf("%s of %s tokens on average, larger than the model's window; %s spent on them",
			Count(o.Requests, "request"), Thousands(o.Without/o.Requests), usd(o.Spent))})
	}
	for _, text := range l.Retiring {
		out = append(out, [2]string{"choose another model", text})
	}
	return append(l.unmarked(out),
		[2]string{"requests", fmt.Sprintf("%s of clients, %s of Decant's own", Thousands(l.Requests), Thousands(l.OwnCalls))},
		[2]string{"pours", l.pours()},
		[2]string{"read again", fmt.Sprintf("%s, %s tokens", Count(l.ReadAgain, "file"), Thousands(l.ReadAgainTokens))},
	)
}

// sizes are the lines of the summary that say how large conversations were.
func (l *Ledger) sizes() [][2]string {
	return [][2]string{
		{"conversations", fmt.Sprintf("%s, %s compacted", Thousands(l.Conversations), percent(l.Compacted, l.Conversations))},
		{"tokens of a conversation", Thousands(l.AverageTokens) + " on average"},
		{"largest prompt", Thousands(l.PeakTokens) + " tokens"},
		{"tokens recovered", Thousands(l.Recovered) + ", which the newest prompts lack"},
	}
}

// pours says how many pours there were, and how they stand.
func (l *Ledger) pours() string {
	even, needed, unsent, undone := 0, 0, 0, 0
	for i := range l.Pours {
		switch p := &l.Pours[i]; {
		case p.Undone != "":
			undone++
		case p.Requests == 0:
			unsent++
		case p.Requests == p.Over:
			needed++
		case p.Even:
			even++
		}
	}
	out := fmt.Sprintf("%s, of which %s broken even", Thousands(len(l.Pours)), Thousands(even))
	if needed > 0 {
		out += fmt.Sprintf(", %s needed for requests that could not have been sent without", Thousands(needed))
	}
	if unsent > 0 {
		out += fmt.Sprintf(", %s not sent yet", Thousands(unsent))
	}
	if undone > 0 {
		out += fmt.Sprintf(", %s taken back", Thousands(undone))
	}
	return out
}

func usd(v float64) string {
	if v <= -0.005 {
		return fmt.Sprintf("-$%.2f", -v)
	}
	return fmt.Sprintf("$%.2f", max(0, v)) // never -$0.00
}

// A ledgerGroup is a table with its name.
type ledgerGroup struct {
	Name string
	rows []LedgerRow
}

// groups are the tables that are shown.
func (l *Ledger) groups() (out []ledgerGroup) {
	for _, g := range []ledgerGroup{{"model", l.Models}, {"project", l.Projects}, {"day", l.Days}, {"tenant", l.Tenants}} {
		if g.Name == l.By || l.By == "" && (g.Name != "tenant" || len(l.Tenants) > 1) {
			out = append(out, g)
		}
	}
	return out
}

// Head returns the names of the columns.
func (g ledgerGroup) Head() []string {
	return []string{g.Name, "requests", "sent", "would have sent", "spent", "would have cost", "saved"}
}

// Cells returns the rows: of requests that a client could have sent, and under one with others a row of these.
func (g ledgerGroup) Cells() (out [][]string) {
	for i := range g.rows {
		r, o := &g.rows[i], &g.rows[i].Over
		row := []string{
			r.Name, Thousands(r.Requests - o.Requests), Thousands(r.Prompt - o.Prompt), Thousands(r.Without - o.Without),
			usd(r.Spent - o.Spent), usd(r.Bare), usd(r.Net()),
		}
		if r.Prompt > 0 && r.Spent == 0 && r.Bare == 0 { // the catalogue has no price
			row[4], row[5], row[6] = "unknown", "unknown", "unknown"
		}
		out = append(out, row)
		if o.Requests > 0 {
			out = append(out, []string{"- besides, over the window", Thousands(o.Requests), Thousands(o.Prompt), Thousands(o.Without), usd(o.Spent), "-", "-"})
		}
	}
	return out
}

// mostDays is how many days a report shows that is not full.
const mostDays = 7

// WriteText writes the report for a terminal: what fits a screen, or everything.
func (l *Ledger) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	p.line("Decant, %s: %s", l.period(), l.verdict())
	if l.Requests+l.OwnCalls+l.Conversations == 0 {
		p.line("decant run -- claude sends an agent's requests through Decant; decant report FILES says what sessions have cost so far")
		return p.err
	}
	p.line("")
	facts := l.facts()
	if l.Full {
		facts = append(facts, l.sizes()...)
	}
	for _, f := range facts {
		p.line("%-26s %s", f[0], f[1])
	}
	if l.Decisions != nil {
		l.Decisions.text(p)
	}
	for _, g := range l.groups() {
		if n := len(g.rows) - mostDays; n > 0 && g.Name == "day" && l.By == "" && !l.Full {
			g.rows = g.rows[n:]
		}
		head, cells := g.Head(), g.Cells()
		p.line("")
		head[0] = "by " + head[0]
		p.table(append([][]string{head}, cells...), "lRrRrRr")
	}
	switch {
	case l.By != "":
	case l.Full:
		l.why(p)
	default:
		p.line("\n--full says more: sizes, every day, and why the cache was written")
	}
	return p.err
}

// why writes why tokens were written to the cache.
func (l *Ledger) why(p *printer) {
	l.Writes.text(p)
	for _, rows := range [][][]string{againBy("project", l.ProjectWrites), l.againByAgent()} {
		if rows != nil {
			p.line("")
			p.table(rows, "lRrRl")
		}
	}
}
