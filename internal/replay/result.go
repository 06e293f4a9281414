package replay

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/policy"
)

// A Session is what every policy made of one recording.
type Session struct {
	Name        string   `json:"name"`
	Model       string   `json:"model"` // that answered last
	Window      int      `json:"window"`
	Compactions int      `json:"client_compactions"`            // of the client in the recording
	CompactedAt int      `json:"client_compacted_at,omitempty"` // tokens of the largest prompt that was reported right before one of them
	Begun       bool     `json:"begins_compacted,omitempty"`    // it begins with a summary, and what that stands for is not there
	Lifetime    string   `json:"cache_lifetime"`                // of cache entries: "5m", "1h", "mixed", "none", or "automatic" where the provider decides
	LifetimeBy  string   `json:"cache_lifetime_by"`             // how that is known: recorded, marked, habit
	Joined      *Joined  `json:"joined,omitempty"`              // of which recordings it was made, where there are several
	Recorded    *Against `json:"recorded,omitempty"`            // what the recording says it cost; absent where it says nothing, or something else is played
	Warm        *Warm    `json:"keep_warm,omitempty"`           // what keeping the cache warm would have come to, where it was asked for and the usage tells
	Results     []Result `json:"results"`                       // one a policy, in their order; none if the recording has fewer than two requests
}

// Joined says of which recordings a session was made.
type Joined struct {
	Recordings []string `json:"recordings"`         // their names, in the order in which they were played
	LeftOut    []string `json:"left_out,omitempty"` // names of those in which nothing was answered
	ApartUSD   float64  `json:"apart_usd"`          // what they cost if each is a conversation of its own and sent whole, as modelled
	Unpriced   bool     `json:"unpriced,omitempty"` // a price is not known, so ApartUSD is too low
	ApartOver  int      `json:"apart_over_window"`  // requests that are larger than the window even so

	// For each policy the share of exact strings that stand in view on a line that shares four plain words with any on which they
	// stood, and not only with the first twelve, or where they stood last.
	Grounded []float64 `json:"grounded_anywhere"`
}

// A Result is what one policy made of one or more conversations. Its parts add up.
type Result struct {
	Policy   string       `json:"policy"`
	Requests int          `json:"requests"`
	Usage    decant.Usage `json:"usage"`                      // as the model of sizes and of the cache predicts it, answers as recorded, the client's own calls for summaries included
	USD      float64      `json:"usd"`                        // of the client's own policy what was recorded, where it was; else as modelled
	Modelled float64      `json:"modelled_usd"`               // what Usage costs
	CallsUSD float64      `json:"client_calls_usd,omitempty"` // the part of both for the client's own calls for summaries, which no recording has
	Unpriced bool         `json:"unpriced,omitempty"`         // a price is not known, so USD is too low
	Units    float64      `json:"cost_units"`                 // reads at 0.1, writes at 1.25 or 2, plain input at 1, output at 5, in tokens: comparable over models

	Busts     int `json:"busts"`            // requests whose prefix was not the one sent before
	Rewritten int `json:"rewritten_tokens"` // that had been sent before and stand behind a change
	Peak      int `json:"peak_tokens"`
	Burst     int `json:"over_window"` // requests larger than the window

	FirstBurst   int `json:"first_over_window,omitempty"`         // number of the first of them in its session, 0: none, or several sessions
	FirstBurstAt int `json:"first_over_window_message,omitempty"` // number of the message that answered it

	Necessary int `json:"pours_necessary"`
	Free      int `json:"pours_free"`
	Paid      int `json:"pours_paid"`
	Client    int `json:"pours_client,omitempty"` // compactions of the client's own
	Decisions int `json:"decisions"`
	Freed     int `json:"freed_tokens"`
	Illegal   int `json:"illegal"` // broken rules that the recording does not break

	Gold     int `json:"gold"`     // exact strings that the assistant wrote next and that had been shown
	Kept     int `json:"kept"`     // of them in view
	Grounded int `json:"grounded"` // of them on a line that shares four plain words with one where they stood

	Later         int `json:"later"`          // exact strings that the assistant wrote within 40 messages of a pour and was not shown again before, summed over pours
	LaterKept     int `json:"later_kept"`     // of them in view behind the pour
	LaterGrounded int `json:"later_grounded"` // of them on a line that shares four plain words with one where they stood

	Facts  int `json:"facts"` // must-keep facts at the end of the conversations, by Decant's own list
	AtRisk int `json:"facts_at_risk"`

	Series []Point `json:"series,omitempty"`
	Log    []Entry `json:"log,omitempty"`
}

// Recall returns the next-turn recall, 1 when nothing was asked for.
func (r *Result) Recall() float64 { return share(r.Kept, r.Gold) }

// GroundedRecall returns the grounded recall.
func (r *Result) GroundedRecall() float64 { return share(r.Grounded, r.Gold) }

// LaterRecall returns the share of what was needed behind pours that was there, grounded; 1 when nothing
// was asked for.
func (r *Result) LaterRecall() float64 { return share(r.LaterGrounded, r.Later) }

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
	Message int           `json:"message"` // number of the answer
	At      time.Time     `json:"at"`
	Prompt  int           `json:"prompt"`
	Read    int           `json:"cache_read"`
	USD     float64       `json:"usd"`
	Pour    policy.Reason `json:"pour,omitempty"`
}

// An Entry is one decision.
type Entry struct {
	Request   int                 `json:"request"`
	At        time.Time           `json:"at"`
	Pour      policy.Reason       `json:"pour,omitempty"`
	Kind      decant.DecisionKind `json:"kind"`
	Reduction decant.Reduction    `json:"reduction,omitempty"`
	Reason    string              `json:"reason"`
	Message   int                 `json:"message"`
	About     string              `json:"about,omitempty"` // the call and its file, search or command, or the first words; credentials masked
	Before    int                 `json:"before"`
	After     int                 `json:"after"`
}

// add adds up what can be added up.
func (r *Result) add(s *Result) {
	r.Requests += s.Requests
	r.Usage = r.Usage.Add(s.Usage)
	r.USD += s.USD
	r.Modelled += s.Modelled
	r.CallsUSD += s.CallsUSD
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
	r.Later, r.LaterKept, r.LaterGrounded = r.Later+s.Later, r.LaterKept+s.LaterKept, r.LaterGrounded+s.LaterGrounded
	r.Facts, r.AtRisk = r.Facts+s.Facts, r.AtRisk+s.AtRisk
}

// Sum returns the results of several sessions, policy by policy. Series and logs are left out.
func Sum(ss []*Session) []Result {
	if len(ss) == 0 {
		return nil
	}
	out := make([]Result, len(ss[0].Results))
	for _, s := range ss {
		for i := range s.Results {
			out[i].Policy = s.Results[i].Policy
			out[i].add(&s.Results[i])
			if len(ss) == 1 {
				out[i].FirstBurst, out[i].FirstBurstAt = s.Results[i].FirstBurst, s.Results[i].FirstBurstAt
			}
		}
	}
	return out
}
