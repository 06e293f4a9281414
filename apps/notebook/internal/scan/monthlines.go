package scan

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/internal/humanize"
)

// A section is a part of the report in all its forms.
type section struct {
	Title string
	Rows  [][2]string
	Note  string
}

// sections returns the report in reading order.
func (r *Month) sections() []section {
	return []section{r.work(), r.money(), r.learned(), r.repeated(), r.procedures()}
}

func (r *Month) work() section {
	s := section{Title: "Sessions", Rows: [][2]string{
		{"Sessions processed", humanize.Thousands(r.Sessions)},
		{"Time at work", hours(r.Active)},
		{"Average session tokens", humanize.Thousands(r.Average)},
		{"Peak tokens", humanize.Thousands(r.Peak)},
		{"Compacted by the client", fmt.Sprintf("%s (%s of the sessions), %s", humanize.Thousands(r.Compacted), share(r.Compacted, r.Sessions), counted(r.Compactions, "compaction"))},
		{"Tasks done", fmt.Sprintf("%s, %s, %s new tokens", humanize.Thousands(r.Tasks), counted(r.Commits, "commit"), humanize.Thousands(r.TaskTokens))},
	}}
	if l := r.Largest; l != nil {
		s.Rows = append(s.Rows, [2]string{"Largest session", fmt.Sprintf("%s, %s tokens", name(l.ID, l.File), humanize.Thousands(l.Peak))})
	}
	s.Note = "A session's tokens are those of its largest prompt, as the provider reported them. New tokens are what was read for the first time or written by the model."
	return s
}

func (r *Month) money() section {
	l := r.Ledger
	if l == nil {
		return section{Title: "Cost", Note: "No requests went through Decant's gateway, so nothing was left out and nothing was booked."}
	}
	return section{Title: "Cost", Rows: [][2]string{
		{"Compacted by Decant", fmt.Sprintf("%s of %s (%s)", humanize.Thousands(l.Compacted), counted(l.Conversations, "conversation"), share(l.Compacted, l.Conversations))},
		{"Tokens recovered", humanize.Thousands(l.Recovered)},
		{"Without Decant", dollars(l.Without)},
		{"With Decant", dollars(l.Spent)},
		{"Saved", dollars(l.Saved)},
		{"What forgetting cost", fmt.Sprintf("%s read again (%s tokens), %s of cache written again", counted(l.ReadAgain, "file"), humanize.Thousands(l.ReadAgainTokens), dollars(l.Rewritten))},
	}, Note: "Recovered is what the newest views really lack, each token counted once. Requests that could not have been sent without Decant are not compared."}
}

func (r *Month) learned() section {
	if r.Records == nil {
		return section{Title: "Notebook", Note: "There is no notebook yet: decant notebook init makes one."}
	}
	return section{Title: "Notebook", Rows: [][2]string{
		{"Observations escalated", humanize.Thousands(r.Records.Escalated)},
		{"Observations archived", humanize.Thousands(r.Records.Archived)},
		{"Tasks archived", humanize.Thousands(r.Records.TasksArchived)},
	}}
}

func (r *Month) repeated() section {
	said := 0
	for _, c := range r.Covered {
		said += len(c.Evidence)
	}
	s := section{Title: "Corrections", Rows: [][2]string{
		{"Corrections and standing orders", humanize.Thousands(r.Corrections)},
		{"Said again despite a rule", humanize.Thousands(said)},
	}}
	for _, c := range r.Covered {
		e := c.Evidence[0]
		s.Rows = append(s.Rows, [2]string{c.Text, fmt.Sprintf("%s; first in %s, message %d: %q", times(len(c.Evidence)), name(e.Session, e.File), e.Message, e.Quote)})
	}
	return s
}

func (r *Month) procedures() section {
	s := section{Title: "Procedures that repeat"}
	for _, p := range r.Patterns {
		s.Rows = append(s.Rows, [2]string{p.Text(), fmt.Sprintf("%s in %s", times(p.Count), counted(p.Sessions, "session"))})
	}
	if len(s.Rows) == 0 {
		s.Note = "None."
	}
	return s
}

// title returns the heading of the report.
func (r *Month) title() string {
	t, err := time.Parse("2006-01", r.Month)
	if err != nil { // a report that was made elsewhere
		return "Monthly report - " + r.Month
	}
	return "Monthly report - " + t.Format("January 2006")
}

func share(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(of))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Thousands(n) + " " + what + "s"
}

func times(n int) string { return counted(n, "time") }

func dollars(usd float64) string {
	if usd < 0 {
		return fmt.Sprintf("-$%.2f", -usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

func hours(s Seconds) string { return fmt.Sprintf("%.1f hours", float64(s)/3600) }

// name returns the beginning of a session's id, or its file.
func name(id, file string) string {
	if len(id) > 8 {
		return id[:8]
	}
	if id != "" {
		return id
	}
	return filepath.Base(file)
}
