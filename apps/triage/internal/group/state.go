package group

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A State says what kind of news a group is.
type State string

// The states, the most important first.
const (
	New        State = "new"        // it was never seen before
	Regressed  State = "regressed"  // it was resolved, or has not happened for a week, and is back
	Escalating State = "escalating" // it happens much more often than before
	Standing   State = "known"      // it goes on as before
	Resolved   State = "resolved"   // somebody has closed it, and it has not happened since
)

// states returns them, the most important first.
func states() []State { return []State{New, Regressed, Escalating, Standing, Resolved} }

// Known is what is known of a group from earlier runs.
type Known struct {
	Key    string         `json:"key"`
	Name   string         `json:"name,omitzero"` // for people
	First  time.Time      `json:"first"`
	Last   time.Time      `json:"last"`
	Days   map[string]int `json:"days,omitempty"`  // events by day, of the last four weeks
	Closed time.Time      `json:"closed,omitzero"` // when somebody has called it resolved
	Found  *Found         `json:"found,omitzero"`  // what an investigation has found last

	Judged []Judgement `json:"judged,omitempty"` // of findings, the newest of each
}

// A Judgement says whether a finding was right.
type Judgement struct {
	Run        string `json:"run"`
	Number     int    `json:"number"`
	Confidence string `json:"confidence,omitzero"` // of the finding
	Right      bool   `json:"right"`
	By         string `json:"by"` // who or what says so: "feedback", "issue acme/shop#3 closed as completed"
}

// Found is what an investigation has found about an error.
type Found struct {
	Run         string    `json:"run"`
	Number      int       `json:"number"` // of the error in the run
	Time        time.Time `json:"time"`
	Class       string    `json:"class,omitzero"`
	Transaction string    `json:"transaction,omitzero"`
	Tags        []string  `json:"tags,omitempty"`
	Cause       string    `json:"cause"`
	Confidence  string    `json:"confidence"`
	Right       string    `json:"right,omitzero"` // what people have said of it: "yes", "no", or nothing
}

// What makes an error regressed or escalating.
const (
	quiet     = 7 * 24 * time.Hour // without an event: it was gone
	manyTimes = 3                  // as often in a day as on an ordinary day before
	fewEvents = 10                 // in a day are never an escalation
)

// Of returns the state of a group, by what is known of it; k nil: nothing.
func Of(g *Group, k *Known) State {
	switch {
	case k == nil:
		return New
	case !k.Closed.IsZero() && g.Last.After(k.Closed):
		return Regressed
	case !k.Closed.IsZero():
		return Resolved
	case g.First.Sub(k.Last) >= quiet:
		return Regressed
	case escalates(g, k):
		return Escalating
	}
	return Standing
}

// escalates reports whether the group's busiest day has at least ten events, and three times as many as an ordinary day before: the median over
// the days since it was first seen, those without an event included.
func escalates(g *Group, k *Known) bool {
	most := 0
	for _, n := range g.Days {
		most = max(most, n)
	}
	begin := g.First.UTC().Truncate(24 * time.Hour)
	var before []int
	for day := k.First.UTC().Truncate(24 * time.Hour); day.Before(begin) && len(before) < 28; day = day.AddDate(0, 0, 1) {
		before = append(before, k.Days[day.Format(time.DateOnly)])
	}
	if len(before) == 0 || most < fewEvents {
		return false
	}
	slices.Sort(before)
	return most >= manyTimes*max(1, before[len(before)/2])
}

// rememberedDays is how long the days of a group are kept.
const rememberedDays = 28

// Remember returns what is known of a group with this run's events; k nil: nothing was.
func Remember(g *Group, k *Known) *Known {
	out := &Known{Key: g.Key, First: g.First, Days: map[string]int{}}
	if k != nil {
		*out = *k
		out.Days = map[string]int{}
		if g.First.Before(out.First) {
			out.First = g.First
		}
		if out.Closed.Before(g.Last) {
			out.Closed = time.Time{}
		}
	}
	out.Name = g.Name()
	if g.Last.After(out.Last) {
		out.Last = g.Last
	}
	oldest := out.Last.UTC().AddDate(0, 0, -rememberedDays).Format(time.DateOnly)
	for _, days := range []map[string]int{daysOf(k), g.Days} {
		for day, n := range days {
			if day >= oldest { // a window that was looked at twice does not count twice
				out.Days[day] = max(out.Days[day], n)
			}
		}
	}
	return out
}

func daysOf(k *Known) map[string]int {
	if k == nil {
		return nil
	}
	return k.Days
}

// The weights of what makes an error important.
const (
	weightFrequency = .4
	weightSeverity  = .3
	weightRecency   = .2
	weightUsers     = .1
)

// Rank sets how important each group is, from 0 to 1:
//
//	.4 frequency: log(1 + its events) / log(1 + the events of the most frequent one)
//	.3 severity: 1 for what stops a process or loses data, .7 for what fails a request, .3 for warnings and what is denied
//	.2 recency: 1 at the end of the window, 0 at its beginning
//	.1 users: 1 where a person waits for the answer
//
// and sorts them: by state first, since news matters more than what is known; then by rank, then by key.
func Rank(groups []*Group, since, until time.Time) {
	most := 0
	for _, g := range groups {
		most = max(most, g.Count)
	}
	for _, g := range groups {
		frequency := math.Log1p(float64(g.Count)) / math.Log1p(float64(max(most, 1)))
		recency := 1.0
		if span := until.Sub(since); span > 0 {
			recency = min(1, max(0, float64(g.Last.Sub(since))/float64(span)))
		}
		users := 0.0
		if faces.MatchString(g.Transaction) {
			users = 1
		}
		g.Rank = weightFrequency*frequency + weightSeverity*severity(g) + weightRecency*recency + weightUsers*users
	}
	order := func(s State) int {
		if i := slices.Index(states(), s); i >= 0 {
			return i
		}
		return 0
	}
	slices.SortStableFunc(groups, func(a, b *Group) int {
		switch {
		case a.State != b.State:
			return order(a.State) - order(b.State)
		case a.Rank != b.Rank:
			if a.Rank > b.Rank {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
}

var (
	faces  = lazyregexp.New(`(?i)^(?:GET|POST|PUT|PATCH|DELETE)\b|controller|checkout|login|signup|payment|cart|/api/|web`)
	grave  = lazyregexp.New(`(?i)panic|fatal|segmentation|sigsegv|out.?of.?memory|nomemory|stack.?(?:overflow|level)|systemstack|corrupt|deadlock|data.?loss`)
	slight = lazyregexp.New(`(?i)warn|deprecat|notfound|not.found|forbidden|unauthori[sz]ed|notauthorized|validation|ratelimit|too.many.requests`)
)

// severity returns how bad an error is by its class and message.
func severity(g *Group) float64 {
	switch text := g.Class + " " + g.Message; {
	case grave.MatchString(text):
		return 1
	case slight.MatchString(text):
		return .3
	}
	return .7
}

// JudgedBy returns which issue or pull request judged the newest finding; empty: a person typed it, or nobody did.
func (k *Known) JudgedBy() string {
	if k.Found == nil {
		return ""
	}
	for _, j := range k.Judged {
		if j.Run == k.Found.Run && j.Number == k.Found.Number && j.By != "feedback" {
			return j.By
		}
	}
	return ""
}
