package edge

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"
)

// measure registers metrics about a running service's files, keys and certificate.
func (e *Edge) measure(db string, reg prometheus.Registerer) error {
	gauge := func(name, help string, labels prometheus.Labels, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "decant_" + name, Help: help, ConstLabels: labels}, value)
	}
	const size = "Size of the database's files: the data, and the log of what was written last."
	cs := []prometheus.Collector{
		gauge("database_bytes", size, prometheus.Labels{"file": "data"}, sizeOf(db)),
		gauge("database_bytes", size, prometheus.Labels{"file": "log"}, sizeOf(db+"-wal")),
		gauge("keys", "Keys that are in force.", nil, func() float64 { return float64(e.keys.Len()) }),
	}
	if e.pair != nil {
		cs = append(cs, gauge("certificate_expires_seconds", "When the certificate expires, in seconds since 1970.", nil,
			func() float64 { return float64(e.pair.Expires().Unix()) }))
	}
	for _, c := range cs {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf returns a function that says how large a file is, 0 when it is not there.
func sizeOf(name string) func() float64 {
	return func() float64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return float64(info.Size())
	}
}
