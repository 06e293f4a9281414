package gateway

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/policy"
)

// metrics are the gateway's numbers. Every label has few values, whatever clients send.
type metrics struct {
	open      prometheus.Gauge
	requests  *prometheus.CounterVec   // door, status
	duration  *prometheus.HistogramVec // door
	held      *prometheus.HistogramVec // door
	first     *prometheus.HistogramVec // door
	bytes     *prometheus.CounterVec   // direction
	tokens    *prometheus.CounterVec   // kind
	saved     prometheus.Counter
	pours     *prometheus.CounterVec // reason
	decisions *prometheus.CounterVec // kind
	poor      prometheus.Counter
	recovered prometheus.Counter
	budgets   prometheus.Counter
	rates     prometheus.Counter
	faults    prometheus.Counter
	failures  prometheus.Counter
}

// newMetrics makes and registers all of them.
func newMetrics(reg prometheus.Registerer, e *atomic.Pointer[engine.Engine], version, commit string) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "decant_" + name, Help: help}, labels)
	}
	seconds := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "decant_" + name, Help: help,
			Buckets: buckets}, []string{"door"})
	}
	short, long := prometheus.ExponentialBuckets(0.0001, 2.5, 14), prometheus.ExponentialBuckets(0.005, 2.5, 14)
	saved := counter("tokens_saved_total", "Tokens left out of what clients sent, each counted once, when it was left out first.")
	recovered := counter("refusals_recovered_total", "Refusals of the provider that clients did not see.")
	budgets := counter("budget_refusals_total", "Requests that were refused because a budget was spent.")
	rates := counter("rate_refusals_total", "Requests that were refused because a key had come to its limit per minute.")
	poor := counter("poor_records_total", "Checkpoints that say less than their preset asks of a record.")
	faults := counter("faults_total", "Requests during which a step of Decant's own failed.")
	failures := counter("upstream_failures_total", "Requests that got no answer from the upstream.")
	m := &metrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "decant_requests_open", Help: "Requests that are being answered.",
		}),
		requests: counter("requests_total", "Requests by door and HTTP status.", "door", "status"),
		duration: seconds("request_duration_seconds", "Time from a request's headers to the end of its answer.", long),
		held:     seconds("request_held_seconds", "Time from a request's headers until it is sent on.", short),
		first: seconds("first_byte_seconds",
			"Time from a request's headers to the first byte of the answer's body.", long),
		bytes:     counter("body_bytes_total", "Bytes of bodies: received and answered by clients, sent to the upstream.", "direction"),
		tokens:    counter("tokens_total", "Tokens as the provider reported them.", "kind"),
		pours:     counter("pours_total", "Pours by their reason.", "reason"),
		decisions: counter("decisions_total", "Decisions by their kind.", "kind"),
		budgets:   budgets.WithLabelValues(), rates: rates.WithLabelValues(),
		saved: saved.WithLabelValues(), poor: poor.WithLabelValues(), recovered: recovered.WithLabelValues(),
		faults: faults.WithLabelValues(), failures: failures.WithLabelValues(),
	}
	for _, c := range append(ofBacklog(e),
		m.open, m.requests, m.duration, m.held, m.first, m.bytes, m.tokens, m.pours, m.decisions, saved, poor,
		recovered, budgets, rates, faults, failures, buildInfo(version, commit),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	) {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// buildInfo is always 1; its labels say what was built.
func buildInfo(version, commit string) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "decant_build_info", Help: "Always 1; what was built, from what, with what.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": runtime.Version()},
	})
	g.Set(1)
	return g
}

// ofBacklog are the numbers of answers that wait for the database.
func ofBacklog(e *atomic.Pointer[engine.Engine]) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "decant_archive_waiting_bytes",
			Help: "Bytes of memory that answers take which wait for the database."}, func() float64 {
			waiting, _ := e.Load().Backlog()
			return float64(waiting)
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "decant_archives_lost_total",
			Help: "Answers that were not archived because the database could not follow."}, func() float64 {
			_, lost := e.Load().Backlog()
			return float64(lost)
		}),
	}
}

// add counts a visit that is over.
func (m *metrics) add(v *visit, now time.Time) {
	door := cmp.Or(v.door.Name, doorOther)
	m.requests.WithLabelValues(door, statusLabel(v.status)).Inc()
	m.duration.WithLabelValues(door).Observe(now.Sub(v.begin).Seconds())
	if !v.sent.IsZero() {
		m.held.WithLabelValues(door).Observe(v.sent.Sub(v.begin).Seconds())
	}
	if !v.first.IsZero() {
		m.first.WithLabelValues(door).Observe(v.first.Sub(v.begin).Seconds())
	}
	for _, b := range []struct {
		direction string
		n         int64
	}{{"received", v.received}, {"sent", v.out}, {"answered", v.in}} {
		if b.n > 0 { // unknown lengths are negative
			m.bytes.WithLabelValues(b.direction).Add(float64(b.n))
		}
	}
	if v.failure != nil && v.status != statusLeft {
		m.failures.Inc()
	}
	if v.refused != "" {
		m.refused(v.status)
	}
	if v.prepared != nil {
		m.managed(v.prepared, v.usage)
	}
}

// refused counts a request that the gateway itself refused.
func (m *metrics) refused(status int) {
	switch status {
	case http.StatusPaymentRequired:
		m.budgets.Inc()
	case http.StatusTooManyRequests:
		m.rates.Inc()
	}
}

// managed counts what the engine did.
func (m *metrics) managed(p *engine.Prepared, u decant.Usage) {
	for _, t := range []struct {
		kind string
		n    int
	}{{"input", u.Input}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite}, {"output", u.Output}} {
		if t.n > 0 {
			m.tokens.WithLabelValues(t.kind).Add(float64(t.n))
		}
	}
	if p.Fault != nil {
		m.faults.Inc()
	}
	r := &p.Report
	if r.Poor() != nil {
		m.poor.Inc()
	}
	if r.Reason != "" {
		m.pours.WithLabelValues(string(r.Reason)).Inc()
	}
	m.saved.Add(float64(max(0, r.Freed)))
	if r.Reason == policy.Overflow || r.Reason == policy.Refusal {
		m.recovered.Inc()
	}
	for i := range r.Decisions {
		m.decisions.WithLabelValues(string(r.Decisions[i].Kind)).Inc()
	}
}

// statuses are counted one by one; all other statuses are counted by their class.
func statusLabel(status int) string {
	if status == statusLeft || status == 529 ||
		slices.Contains([]int{200, 400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504}, status) {
		return strconv.Itoa(status)
	}
	if status < 100 || status > 599 || http.StatusText(status/100*100) == "" {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
