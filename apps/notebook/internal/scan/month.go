package scan

import (
	"slices"
	"time"
)

// MonthValues are what a Month is made from.
type MonthValues struct {
	Month    time.Time // a moment in the month, in the zone whose days count
	Sessions []Session
	Rules    []MonthRule
	Records  *MonthRecords // nil: there is no notebook
	Ledger   *MonthLedger  // nil: nothing went through a gateway of Decant
}

// A MonthRule is an active rule.
type MonthRule struct {
	ID    string
	Text  string
	Since time.Time // corrections before it do not count; zero: all do
}

// MonthRecords count the changes in the notebook during the month.
type MonthRecords struct {
	Escalated     int `json:"observations_escalated"`
	Archived      int `json:"observations_archived"`
	TasksArchived int `json:"tasks_archived"`
}

// A MonthLedger is the cost of the month's requests, as the store has it.
type MonthLedger struct {
	Conversations   int     `json:"conversations"`
	Compacted       int     `json:"compacted"` // conversations in which something was left out
	Requests        int     `json:"requests"`
	Recovered       int     `json:"tokens_recovered"` // missing from the newest views, each counted once
	Without         float64 `json:"without_usd"`      // cost of the same requests unchanged, if they could have been sent
	Spent           float64 `json:"spent_usd"`        // with Decant, its own calls included
	Saved           float64 `json:"saved_usd"`        // negative when Decant cost more than it saved
	ReadAgain       int     `json:"read_again"`       // files that were read again after their result was left out
	ReadAgainTokens int     `json:"read_again_tokens"`
	Rewritten       float64 `json:"rewritten_usd"` // part of Spent: cache written again after pours
}

// A Month is the report of a month: sessions, tokens, tasks, cost, and corrections that a rule already
// covered. What was not recorded is missing; nothing is estimated.
type Month struct {
	Month       string        `json:"month"` // "2026-10"
	Sessions    int           `json:"sessions"`
	Requests    int           `json:"requests"`
	Active      Seconds       `json:"active_seconds"`
	Average     int           `json:"average_session_tokens"` // mean of the sessions' largest prompts
	Peak        int           `json:"peak_tokens"`
	Compacted   int           `json:"sessions_compacted"` // by the client itself
	Compactions int           `json:"compactions"`
	Tasks       int           `json:"tasks_done"`
	TaskTokens  int           `json:"task_tokens"` // new tokens of these tasks
	Commits     int           `json:"commits"`
	Records     *MonthRecords `json:"notebook,omitempty"`
	Ledger      *MonthLedger  `json:"ledger,omitempty"`
	Corrections int           `json:"corrections"` // sentences in which the person corrected or gave a standing order
	Covered     []repetition  `json:"covered,omitempty"`
	Patterns    []Pattern     `json:"patterns,omitempty"` // procedures that were repeated, at most mostPatterns
	Largest     *Session      `json:"largest_session,omitempty"`
}

// A repetition is a rule that the person had to repeat.
type repetition struct {
	Rule     string     `json:"rule"`
	Text     string     `json:"text"`
	Evidence []Evidence `json:"evidence"`
}

// mostPatterns is how many patterns a report has.
const mostPatterns = 5

// NewMonth returns the report of a month. A session belongs to the month in which it ended.
func NewMonth(v MonthValues) *Month {
	in := within(Distinct(v.Sessions), v.Month)
	r := &Month{Month: v.Month.Format("2006-01"), Sessions: len(in), Records: v.Records, Ledger: v.Ledger}
	measured := 0
	for i := range in {
		s := &in[i]
		r.add(s)
		if s.Peak > 0 {
			measured++
		}
		if s.Peak > 0 && (r.Largest == nil || s.Peak > r.Largest.Peak) {
			r.Largest = s
		}
	}
	if measured > 0 {
		r.Average /= measured
	}
	for _, c := range Candidates(in) {
		if c.Kind != Request {
			r.Corrections += len(c.Evidence)
		}
	}
	r.Covered = covered(v.Rules, in)
	r.Patterns = Patterns(in)
	r.Patterns = r.Patterns[:min(len(r.Patterns), mostPatterns)]
	return r
}

// within returns the sessions that ended in a month.
func within(all []Session, month time.Time) (out []Session) {
	first := time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, month.Location())
	next := first.AddDate(0, 1, 0)
	for i := range all {
		if end := all[i].End; !end.Before(first) && end.Before(next) {
			out = append(out, all[i])
		}
	}
	return out
}

// add adds the measures of one session.
func (r *Month) add(s *Session) {
	r.Requests += s.Requests
	r.Active += s.Active
	r.Average += s.Peak
	r.Peak = max(r.Peak, s.Peak)
	r.Compactions += len(s.Compactions)
	if len(s.Compactions) > 0 {
		r.Compacted++
	}
	for i := range s.Tasks {
		if s.Tasks[i].Done {
			r.Tasks++
			r.TaskTokens += s.Tasks[i].Tokens
			r.Commits += len(s.Tasks[i].Commits)
		}
	}
}

// covered returns the rules that the person repeated in sessions after the rule was made, the most repeated first.
func covered(rules []MonthRule, ss []Session) (out []repetition) {
	for _, rule := range rules {
		c := repetition{Rule: rule.ID, Text: rule.Text}
		for i := range ss {
			if ss[i].Start.Before(rule.Since) {
				continue
			}
			if v, found := Judge(rule.Text, &ss[i]); v == Confirms {
				c.Evidence = append(c.Evidence, found...)
			}
		}
		if len(c.Evidence) > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b repetition) int { return len(b.Evidence) - len(a.Evidence) })
	return out
}
