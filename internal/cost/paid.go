package cost

import (
	"cmp"
	"iter"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// An Answer is what the request for one recorded answer has cost.
type Answer struct {
	*decant.Message
	From     token.Model
	Billed   decant.Usage // as recorded; see Answers for Output
	USD      float64
	Modelled float64 // part of USD, for output that the recorded usage lacks
	Unpriced bool    // a price is not known, so USD is too low
}

// Answers returns the answers of c whose usage was recorded, each once, at the prices of the day on which it was made,
// those of the newest row where no day is recorded. models finds the model of an id; an answer that names none is taken
// to come from the model of c.
//
// Clients note the usage of an answer as it begins, so that many a recorded output is too small: the
// size of the answer's text replaces it if it is larger.
func Answers(c *decant.Conversation, models func(id string) token.Model) iter.Seq[Answer] {
	return func(yield func(Answer) bool) {
		seen, sizes := map[string]bool{}, map[string]*token.Estimator{}
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Usage == nil || m.ID != "" && seen[m.ID] {
				continue
			}
			seen[m.ID] = true
			id := cmp.Or(m.Model, c.Model)
			e := sizes[id]
			if e == nil {
				e = token.For(models(id))
				sizes[id] = e
			}
			if !yield(answer(e, m)) {
				return
			}
		}
	}
}

func answer(e *token.Estimator, m *decant.Message) Answer {
	out := Answer{Message: m, From: e.Model(), Billed: *m.Usage}
	terms := Terms{At: Day(m.Time)}
	recorded, _ := Of(out.From, out.Billed, terms).Total()
	out.Billed.Output = Answered(m, e)
	usd, known := Of(out.From, out.Billed, terms).Total()
	out.USD, out.Modelled, out.Unpriced = usd, usd-recorded, !known
	return out
}

// Paid is what the recorded requests of a conversation have cost.
type Paid struct {
	Requests int          `json:"requests"` // whose usage is recorded
	Usage    decant.Usage `json:"usage"`    // all of it; see Answers for Output
	USD      float64      `json:"usd"`
	Answers  float64      `json:"answers_modelled_usd"` // part of USD, for output that the recorded usage lacks
	Unpriced bool         `json:"unpriced,omitempty"`   // a price is not known, so USD is too low
}

// PaidFor adds up what the Answers of c have cost.
func PaidFor(c *decant.Conversation, models func(id string) token.Model) (out Paid) {
	for a := range Answers(c, models) {
		out.Requests++
		out.Usage = out.Usage.Add(a.Billed)
		out.USD, out.Answers = out.USD+a.USD, out.Answers+a.Modelled
		out.Unpriced = out.Unpriced || a.Unpriced
	}
	return out
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
