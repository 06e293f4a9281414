package report

import (
	"fmt"
	"io"
	"path"

	"github.com/decantdev/decant/internal/replay"
)

// A Replay is what policies made of recorded sessions.
type Replay struct {
	Verdict  string            `json:"verdict"` // what it comes to, in words; empty when there is nothing to compare
	Sessions []*replay.Session `json:"sessions"`
	Total    []replay.Result   `json:"total"`               // over all sessions, policy by policy
	Warm     *replay.Warm      `json:"keep_warm,omitempty"` // over all sessions; nil: nobody asked, or no usage tells
	Errors   replay.Errors     `json:"model_error"`         // of the model of sizes and cache, against what was recorded
	Notes    []string          `json:"notes,omitempty"`
	Skipped  []string          `json:"skipped,omitempty"`
}

// NewReplay adds up what was played.
func NewReplay(ss []*replay.Session) *Replay {
	r := &Replay{Sessions: ss, Total: replay.Sum(ss), Errors: replay.ErrorsOf(ss), Warm: replay.SumWarm(ss)}
	r.Verdict, r.Notes = r.verdict(), append(r.notes(), r.outliers()...)
	return r
}

// WriteText writes the verdict, a table with one row a policy, one with one row a session, and what has
// to be known to read them. Costs are shares of the first policy's, both as modelled.
func (r *Replay) WriteText(w io.Writer) error {
	p := &printer{Writer: w}
	if len(r.Total) == 0 {
		p.line("nothing to replay: no conversation with two requests")
		return p.err
	}
	if r.Verdict != "" {
		p.line("%s\n", wrap(r.Verdict, p.across()))
	}
	base := &r.Total[0]
	p.line("%s, %s\n", Count(len(r.Sessions), "session"), Count(base.Requests, "request"))
	r.policies(p)
	p.line("")
	for _, line := range r.legend() {
		p.line("%s", wrap(line, p.across()))
	}
	if len(r.Sessions) > 1 {
		p.line("")
		r.sessions(p)
	}
	r.warm(p)
	p.line("")
	for _, n := range r.Notes {
		p.line("note: %s", wrap(n, p.across()-6))
	}
	for _, s := range r.Skipped {
		p.line("note: %s", s)
	}
	return p.err
}

// textWidth is how wide the sentences of a replay are, in columns: as wide as its table.
const textWidth = 120

// across returns how wide sentences are here.
func (p *printer) across() int {
	if n := p.columns(); n > 0 {
		return min(n, textWidth)
	}
	return textWidth
}

// policies writes one row a policy.
func (r *Replay) policies(p *printer) {
	rows := [][]string{{"policy", "tokens", "dollars", "cost", "cached", "busts", "pours", "peak", "over", "illegal", "recall", "grounded", "later", "at risk"}}
	for i := range r.Total {
		t := &r.Total[i]
		rows = append(rows, []string{
			t.Policy, Thousands(t.Usage.Prompt()), money(t.USD, t.Unpriced), ratio(costShare(t, &r.Total[0])), share(t.Usage.CacheRead, t.Usage.Prompt()),
			Thousands(t.Busts), Thousands(t.Pours()), Thousands(t.Peak), Thousands(t.Burst), Thousands(t.Illegal), ratio(t.Recall()), ratio(t.GroundedRecall()), later(t), share(t.AtRisk, t.Facts),
		})
	}
	p.table(rows, "lRrrRRRRRRrrRr")
}

// later returns how much of what was needed behind pours was there, a dash for a policy that made none.
func later(r *replay.Result) string {
	if r.Later == 0 {
		return "-"
	}
	return ratio(r.LaterRecall())
}

// legend says what the columns mean.
func (r *Replay) legend() []string {
	return []string{
		fmt.Sprintf("cost: share of %q by the same model of prices and cache. busts: requests that did not continue the prompt before. over: requests larger than the window. illegal: violations of the rules of the API.", r.Total[0].Policy),
		"recall: of the exact strings that the assistant wrote next, the share that was still in view; grounded: on a line that shares four plain words with one where it stood. later: grounded, of what it wrote from memory in the 40 messages behind a pour. at risk: facts on Decant's own list of what to keep that are not in the last view.",
	}
}

// sessions writes one row a session.
func (r *Replay) sessions(p *printer) {
	best := r.chosen()
	head := []string{"session", "requests", "cache", "paid", "model", "error", "over from"}
	if best >= 0 {
		head = append(head, r.Total[best].Policy)
	}
	rows := [][]string{head}
	for _, s := range r.Sessions {
		rows = append(rows, sessionRow(s, best))
	}
	align := "lRLrRRR"
	if best >= 0 {
		align += "r"
	}
	p.table(rows, align)
	p.line("")
	p.line("%s", wrap("paid: the prompts alone, by the usage that was recorded. model: the same by the model of sizes and cache, and its error. over from: the request and the message of the first prompt that is larger than the window, when everything is sent. The last column is the policy's cost as a share of the first one's.", p.across()))
}

func sessionRow(s *replay.Session, best int) []string {
	row := []string{sessionName(s.Name), Thousands(s.Results[0].Requests), s.Lifetime, "-", "-", "-", firstOver(s)}
	row[3], row[4], row[5] = against(s.Recorded)
	if best >= 0 {
		row = append(row, ratio(costShare(&s.Results[best], &s.Results[0])))
	}
	return row
}

// against returns what a session's prompts cost by its record and by the model, and how far that is off;
// dashes where it is not known.
func against(a *replay.Against) (paid, model, off string) {
	if a == nil || a.Unpriced {
		return "-", "-", "-"
	}
	return money(a.PaidUSD, false), money(a.Modelled, false), fmt.Sprintf("%+.1f%%", 100*a.Error)
}

// sessionName is a file's name, which is short enough for a table.
func sessionName(name string) string { return path.Base(name) }

// firstOver says where a session's first prompt over the window is, of the policy that sends most.
func firstOver(s *replay.Session) string {
	for i := range s.Results {
		if r := &s.Results[i]; r.Policy == "none" && r.FirstBurst > 0 {
			return fmt.Sprintf("%d (m%d)", r.FirstBurst, r.FirstBurstAt)
		}
	}
	return "-"
}

func money(usd float64, unpriced bool) string {
	if unpriced {
		return "-"
	}
	return fmt.Sprintf("%.2f", usd)
}

func ratio(x float64) string { return fmt.Sprintf("%.3f", x) }

// share writes part of whole in percent, a dash when there is no whole.
func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// costShare returns what r cost as a share of base, both by the same model: in dollars where prices are
// known.
func costShare(r, base *replay.Result) float64 {
	a, b := r.Modelled, base.Modelled
	if r.Unpriced || base.Unpriced {
		a, b = r.Units, base.Units
	}
	if b == 0 {
		return 1
	}
	return a / b
}
