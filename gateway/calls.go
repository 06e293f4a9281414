package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/store"
)

// Calls are metrics of own calls.
type Calls struct {
	calls  *prometheus.CounterVec // purpose, outcome
	tokens *prometheus.CounterVec // purpose, kind
	usd    *prometheus.CounterVec // purpose
	money  *Money
}

// NewCalls returns metrics of own calls that are registered with reg. What they cost counts as money, too.
func NewCalls(reg prometheus.Registerer, money *Money) (*Calls, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "decant_own_" + name, Help: help}, labels)
	}
	c := &Calls{
		calls: counter("calls_total", "Calls of Decant's own to models by what they were for and what became of them.",
			"purpose", "outcome"),
		tokens: counter("tokens_total", "Tokens of Decant's own calls as the provider reported them.", "purpose", "kind"),
		usd:    counter("usd_total", "Dollars at list prices for Decant's own calls.", "purpose"),
		money:  money,
	}
	for _, m := range []prometheus.Collector{c.calls, c.tokens, c.usd} {
		if err := reg.Register(m); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Made counts a call.
func (c *Calls) Made(call owncalls.Call) {
	purpose := string(call.Purpose)
	c.calls.WithLabelValues(purpose, call.Outcome).Inc()
	c.tokens.WithLabelValues(purpose, "prompt").Add(float64(call.Usage.Prompt()))
	c.tokens.WithLabelValues(purpose, "output").Add(float64(call.Usage.Output))
	c.usd.WithLabelValues(purpose).Add(call.Cost.USD())
	c.money.Book(call.Conversation.Tenant, []store.Spend{{Own: true, Cost: call.Cost}})
}
