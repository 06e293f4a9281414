package replay

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
)

// A Session is what every policy made of one recording.
type Session struct {
	Name          string   `json:"name"`
	Model         string   `json:"model"`
	Window        int      `json:"window"`
	Conversations int      `json:"conversations"`                 // that were played: one, or one for each stretch between compactions of the client
	Compactions   int      `json:"client_compactions"`            // of the client in the recording
	CompactedAt   int      `json:"client_compacted_at,omitempty"` // tokens of the largest prompt that was reported right before one of them
	Begun         bool     `json:"begins_compacted,omitempty"`    // it begins with a summary, and what that stands for is not there
	Results       []Result `json:"results"`                       // one a policy, in their order
}

// A Result is what one policy made of one or more conversations. Its parts add up.
type Result struct {
	Policy   string       `json:"policy"`
	Requests int          `json:"requests"`
	Usage    decant.Usage `json:"usage"` // as the cache model predicts it; the answers are the same for all policies and left out, summaries that the client asked for are not
	USD      float64      `json:"usd"`
	Unpriced bool         `json:"unpriced,omitempty"` // a price is not known, so USD is too low
	Units    float64      `json:"cost_units"`         // reads at 0.1, writes at 1.25, plain input at 1, output at 5, in tokens: comparable over models

	Busts     int `json:"busts"`            // requests whose prefix was not the one sent before
	Rewritten int `json:"rewritten_tokens"` // that had been sent before and stand behind a change
	Peak      int `json:"peak_tokens"`
	Burst     int `json:"over_window"` // requests larger than the window

	FirstBurst int `json:"first_over_window,omitempty"` // number of the first of them, 0: none

	Necessary int `json:"pours_necessary"`
	Free      int `json:"pours_free"`
	Paid      int `json:"pours_paid"`
	Client    int `json:"pours_client,omitempty"` // compactions of the client's own
	Decisions int `json:"decisions"`
	Freed     int `json:"freed_tokens"`
	Illegal   int `json:"illegal"` // broken rules that the recording does not break

	Gold     int `json:"gold"`     // exact strings that the assistant wrote next and that had been shown
	Kept     int `json:"kept"`     // of them in view
	Grounded int `json:"grounded"` // of them on a line that says what it said
	Facts    int `json:"facts"`    // must-keep facts at the end of the conversations
	AtRisk   int `json:"facts_at_risk"`

	Series []Point `json:"series,omitempty"`
	Log    []Entry `json:"log,omitempty"`
}

// Recall returns the next-turn recall, 1 when nothing was asked for.
func (r *Result) Recall() float64 { return share(r.Kept, r.Gold) }

// GroundedRecall returns the grounded recall.
func (r *Result) GroundedRecall() float64 { return share(r.Grounded, r.Gold) }

// Pours returns the number of pours, the client's own compactions included.
func (r *Result) Pours() int { return r.Necessary + r.Free + r.Paid + r.Client }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// A Point is one request.
type Point struct {
	Segment int           `json:"segment"`
	At      time.Time     `json:"at"`
	Prompt  int           `json:"prompt"`
	Read    int           `json:"cache_read"`
	USD     float64       `json:"usd"`
	Pour    engine.Reason `json:"pour,omitempty"`
}

// An Entry is one decision.
type Entry struct {
	Segment   int                 `json:"segment"`
	Request   int                 `json:"request"`
	At        time.Time           `json:"at"`
	Pour      engine.Reason       `json:"pour,omitempty"`
	Kind      decant.DecisionKind `json:"kind"`
	Reduction string              `json:"reduction,omitempty"`
	Reason    string              `json:"reason"`
	Message   int                 `json:"message"`
	Before    int                 `json:"before"`
	After     int                 `json:"after"`
}

// add adds up.
func (r *Result) add(s *Result) {
	if r.FirstBurst == 0 && s.FirstBurst > 0 {
		r.FirstBurst = r.Requests + s.FirstBurst
	}
	r.Requests += s.Requests
	r.Usage = r.Usage.Add(s.Usage)
	r.USD += s.USD
	r.Unpriced = r.Unpriced || s.Unpriced
	r.Units += s.Units
	r.Busts += s.Busts
	r.Rewritten += s.Rewritten
	r.Peak = max(r.Peak, s.Peak)
	r.Burst += s.Burst
	r.Necessary, r.Free, r.Paid = r.Necessary+s.Necessary, r.Free+s.Free, r.Paid+s.Paid
	r.Client += s.Client
	r.Decisions += s.Decisions
	r.Freed += s.Freed
	r.Illegal += s.Illegal
	r.Gold, r.Kept, r.Grounded = r.Gold+s.Gold, r.Kept+s.Kept, r.Grounded+s.Grounded
	r.Facts, r.AtRisk = r.Facts+s.Facts, r.AtRisk+s.AtRisk
	r.Series = append(r.Series, s.Series...)
	r.Log = append(r.Log, s.Log...)
}

// Sum returns the results of several sessions, policy by policy. Series and logs are left out.
func Sum(ss []*Session) []Result {
	if len(ss) == 0 {
		return nil
	}
	out := make([]Result, len(ss[0].Results))
	for _, s := range ss {
		for i := range s.Results {
			r := s.Results[i]
			r.Series, r.Log = nil, nil
			out[i].Policy = r.Policy
			out[i].add(&r)
		}
	}
	return out
}
