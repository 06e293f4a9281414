package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/store"
)

// Money is a metric of what was booked. Use its Book for engine.Options.Booked.
type Money struct{ usd *prometheus.CounterVec }

// NewMoney returns a metric of money that is registered with reg.
func NewMoney(reg prometheus.Registerer) (*Money, error) {
	m := &Money{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "decant_usd_total",
		Help: "Dollars at list prices: spent; without Decant for the same requests, where one that no window holds counts what it cost; rewrite, " +
			"the part of spent that changes of history have caused; planned, what requests that were only observed would have cost.",
	}, []string{"kind"})}
	for _, kind := range []string{"spent", "without", "rewrite", "planned"} {
		m.usd.WithLabelValues(kind)
	}
	return m, reg.Register(m.usd)
}

// Book counts a tenant's spends.
func (m *Money) Book(_ string, spends []store.Spend) {
	for i := range spends {
		s := &spends[i]
		without, planned := s.Bare, store.Money(0)
		if s.Over {
			without = s.Cost
		}
		if s.Trial != nil {
			planned = s.Trial.Cost
		}
		m.usd.WithLabelValues("spent").Add(s.Cost.USD())
		m.usd.WithLabelValues("without").Add(without.USD())
		m.usd.WithLabelValues("rewrite").Add(s.Rewrite.USD())
		m.usd.WithLabelValues("planned").Add(planned.USD())
	}
}
