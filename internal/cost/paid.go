package cost

import (
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// Paid is what the recorded requests of a conversation have cost.
type Paid struct {
	Requests int          `json:"requests"` // whose usage is recorded
	Usage    decant.Usage `json:"usage"`    // all of it; see PaidFor for Output
	USD      float64      `json:"usd"`
	Unpriced bool         `json:"unpriced,omitempty"` // a price is not known, so USD is too low
}

// PaidFor adds up the usage that was recorded with the messages of c, each answer once, at the prices of
// the day on which it was made, those of the newest row where no day is recorded. models finds the model of
// an id; an answer that names none is taken to come from the model of c.
//
// Clients note the usage of an answer as it begins, so that many a recorded output is too small: what the
// size of the answer's text replaces it if it is larger.
func PaidFor(c *decant.Conversation, models func(id string) token.Model) Paid {
	var out Paid
	seen := map[string]bool{}
	sizes := map[string]*token.Estimator{}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Usage == nil || m.ID != "" && seen[m.ID] {
			continue
		}
		seen[m.ID] = true
		id := m.Model
		if id == "" {
			id = c.Model
		}
		e := sizes[id]
		if e == nil {
			e = token.For(models(id))
			sizes[id] = e
		}
		out.add(e, m)
	}
	return out
}

// add adds one answer.
func (p *Paid) add(e *token.Estimator, m *decant.Message) {
	u := *m.Usage
	u.Output = Answered(m, e)
	usd, known := Of(e.Model(), u, Terms{At: Day(m.Time)}).Total()
	p.Requests++
	p.Usage = p.Usage.Add(u)
	p.USD += usd
	p.Unpriced = p.Unpriced || !known
}

// Answered returns the output tokens of an answer: those that were recorded, or what its blocks count where
// that is more.
func Answered(m *decant.Message, e *token.Estimator) int {
	n := 0
	if m.Usage != nil {
		n = m.Usage.Output
	}
	counted := 0
	for k := range m.Blocks {
		counted += e.Block(&m.Blocks[k])
	}
	return max(n, counted)
}

// Day returns the time at which prices are looked up for something recorded at t: a time that is not
// known is the latest there is.
func Day(t time.Time) time.Time {
	if t.IsZero() {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t
}
