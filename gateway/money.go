package gateway

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/decantdev/decant/internal/cause"
	"github.com/decantdev/decant/store"
)

// Money are the metrics of what was booked. Use its Book for engine.Options.OnBooked.
type Money struct {
	usd    *prometheus.CounterVec // kind
	writes *prometheus.CounterVec // cause
}

// NewMoney returns metrics of money that are registered with reg.
func NewMoney(reg prometheus.Registerer) (*Money, error) {
	m := &Money{usd: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "decant_usd_total",
		Help: "Dollars at list prices: spent; without Decant for the same requests, where one that no window holds counts what it cost; rewrite, " +
			"the part of spent that changes of history have caused; planned, what requests that were only observed would have cost.",
	}, []string{"kind"}), writes: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "decant_cache_writes_total", Help: "Tokens written to the prompt cache, by what made that necessary.",
	}, []string{"cause"})}
	for _, kind := range []string{"spent", "without", "rewrite", "planned"} {
		m.usd.WithLabelValues(kind)
	}
	for _, k := range cause.Kinds() {
		m.writes.WithLabelValues(string(k))
	}
	return m, errors.Join(reg.Register(m.usd), reg.Register(m.writes))
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
		for _, w := range s.Writes {
			m.writes.WithLabelValues(w.Cause).Add(float64(w.Tokens))
		}
	}
}
