package replay

import (
	"fmt"
	"math"
	"slices"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/token"
)

// A check holds what the model says of the client's own prompts against what was recorded for them. Answers
// are the same in both and left out, calls for summaries are in no recording and left out as well.
type check struct {
	requests       int
	modelled, paid float64
}

func (c *check) add(modelled, paid float64) {
	c.requests++
	c.modelled += modelled
	c.paid += paid
}

// settle returns what a session has cost by its record beside what the model says; nil when nothing was
// compared.
func (c *check) settle(conv *decant.Conversation, find func(id string) token.Model) *Against {
	if c.requests == 0 {
		return nil
	}
	a := &Against{Paid: cost.PaidFor(conv, find), Requests: c.requests, PaidUSD: c.paid, Modelled: c.modelled}
	if a.PaidUSD > 0 {
		a.Error = a.Modelled/a.PaidUSD - 1
	}
	if math.Abs(a.Error) > outlier {
		a.Reason = reason(conv)
	}
	return a
}

// Against is what a session has cost by the usage in it, and how well the model of sizes and of the cache
// reproduces that.
type Against struct {
	cost.Paid
	Requests int     `json:"compared_requests"` // that were played and have usage
	PaidUSD  float64 `json:"prompts_usd"`       // what their prompts cost
	Modelled float64 `json:"prompts_usd_model"` // what the model says that they cost
	Error    float64 `json:"model_error"`       // Modelled / PaidUSD - 1
	Reason   string  `json:"reason,omitempty"`  // why the model is off where it is by more than a tenth, as far as the usage shows
}

// outlier is how far off the model must be for a reason to be looked for.
const outlier = 0.1

// reason says what of a recording the model of the cache cannot know: what was written again for no reason that the
// clock or the history shows.
func reason(c *decant.Conversation) string {
	lost := map[cause.Kind]int{}
	written := 0
	for _, r := range cause.Recorded(c) {
		for _, p := range r.Parts {
			written += p.Tokens
			if p.Kind.Avoidable() && p.Kind != cause.Expired {
				lost[p.Kind] += p.Tokens
			}
		}
	}
	if written == 0 {
		return "its provider does not report what it writes to the cache, and forgets prompts as it likes"
	}
	var worst cause.Kind
	for _, k := range cause.Kinds() {
		if lost[k] > lost[worst] {
			worst = k
		}
	}
	if worst == "" {
		return "nothing that its usage shows"
	}
	return fmt.Sprintf("%.0f%% of what was written to the cache: %s", 100*float64(lost[worst])/float64(written), worst)
}

// Errors sums up how far the model of sizes and of the cache is from what was recorded.
type Errors struct {
	Sessions int     `json:"sessions"`             // that say what they cost, at prices that are known
	PaidUSD  float64 `json:"paid_usd"`             // all of it
	Answers  float64 `json:"answers_modelled_usd"` // part of PaidUSD, for output that the recorded usage lacks
	Mean     float64 `json:"mean_absolute_error"`
	Median   float64 `json:"median_absolute_error"`
	P90      float64 `json:"p90_absolute_error"` // nine sessions in ten are off by no more
	Bias     float64 `json:"bias"`               // of the sum of all prompts
}

// ErrorsOf sums up the errors of sessions.
func ErrorsOf(ss []*Session) Errors {
	var out Errors
	var all []float64
	var modelled, paid float64
	for _, s := range ss {
		a := s.Recorded
		if a == nil || a.Unpriced || a.PaidUSD == 0 {
			continue
		}
		out.PaidUSD, out.Answers = out.PaidUSD+a.USD, out.Answers+a.Answers
		all = append(all, math.Abs(a.Error))
		modelled, paid = modelled+a.Modelled, paid+a.PaidUSD
	}
	if out.Sessions = len(all); out.Sessions == 0 {
		return out
	}
	slices.Sort(all)
	for _, e := range all {
		out.Mean += e / float64(len(all))
	}
	out.Median = (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	out.P90 = all[(9*len(all)+9)/10-1]
	out.Bias = modelled/paid - 1
	return out
}
