package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/tracing"
)

// newTracing returns the tracing that a configuration asks for, nil if it asks for none. preset is the policy of
// requests without another one.
func newTracing(c *config.Config, out *modelhttp.Outbound, version, preset string, reg prometheus.Registerer, log *slog.Logger) (*tracing.Tracing, error) {
	e := &c.Tracing.Export
	if e.URL == "" {
		return nil, nil
	}
	at, header, err := e.Endpoint()
	if err != nil {
		return nil, err
	}
	// The library would print its errors to standard error. The ones that matter are in our log.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Debug("tracing", "error", err.Error()) }))
	about := map[string]string{"service.version": version}
	maps.Copy(about, e.Resource)
	if len(header) > 0 && at.Scheme == "http" && !config.Loopback(at.Hostname()) {
		log.Warn("the headers for the collector of traces cross the network in clear; use https", "collector", e.URL)
	}
	t := tracing.New(tracing.Options{
		Endpoint: at, Header: header, Base: out, Ratio: e.Ratio, Alone: e.Alone, Preset: preset,
		Tenants: c.Tracing.Tenants, Resource: about, Logger: log,
	})
	if err := measureTracing(t, reg); err != nil {
		endTracing(t)
		return nil, err
	}
	return t, nil
}

// measureTracing registers metrics about how many spans arrive.
func measureTracing(t *tracing.Tracing, reg prometheus.Registerer) error {
	for kind, n := range map[string]func() int64{"made": t.Made, "sent": t.Sent} {
		err := reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "decant_spans_total", Help: "Spans of traces that were made, and those that the collector has taken.", ConstLabels: prometheus.Labels{"kind": kind},
		}, func() float64 { return float64(n()) }))
		if err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

// lastSpans is how long the last spans may take. The process has to end some seconds after the drain, see front.Tend.
const lastSpans = 1500 * time.Millisecond

// endTracing sends the waiting spans, as far as there is time.
func endTracing(t *tracing.Tracing) {
	ctx, cancel := context.WithTimeout(context.Background(), lastSpans)
	defer cancel()
	t.Close(ctx)
}
