// Package tracing records in spans what a gateway does with its requests, and sends them to an OpenTelemetry collector.
// Spans hold no content. Of what clients write they hold only the model's name, if it looks like one, and the ids of
// the client's traces.
//
// A gateway that does not trace has a nil *Tracing and nil *Requests: their methods do nothing and cost nothing.
package tracing

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/decantdev/decant/internal/otlp"
)

// Options configures a Tracing. Endpoint and Base are required.
type Options struct {
	// Endpoint is where spans are posted to, path included; Header goes with them.
	Endpoint *url.URL
	Header   http.Header

	// Base carries the spans; it is the only way out of the process.
	Base http.RoundTripper

	// Ratio is the share of traces that is recorded, 0 to 1. If a client says whether its trace is recorded, that
	// decides, unless Alone is set.
	Ratio float64
	Alone bool

	// Preset is the policy of requests without another one.
	Preset string

	// Tenants makes spans name the tenant.
	Tenants bool

	// Resource describes the process. It should hold service.name.
	Resource map[string]string

	// Logger gets a warning when spans cannot be sent, and a line when they can be again. Nil means that nothing is
	// logged.
	Logger *slog.Logger
}

// The spans that wait to be sent are limited, and spans that find no room are lost. Each takes at most two kilobytes.
const (
	mostWaiting = 4096
	mostAtOnce  = 512
	sendEvery   = 5 * time.Second
	sendWithin  = 10 * time.Second
)

// A Tracing makes spans and sends them. It is safe for concurrent use.
type Tracing struct {
	opts     Options
	client   *otlp.Client
	batches  sdk.SpanProcessor
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	waiting  waiting
	made     atomic.Int64
}

// New returns a Tracing. It connects when there is something to send.
func New(o Options) *Tracing {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Tracing{opts: o, client: otlp.New(otlp.Options{Endpoint: o.Endpoint, Header: o.Header, Base: o.Base})}
	t.batches = sdk.NewBatchSpanProcessor(&quiet{SpanExporter: otlptrace.NewUnstarted(t.client), log: o.Logger},
		sdk.WithMaxQueueSize(mostWaiting), sdk.WithMaxExportBatchSize(mostAtOnce), sdk.WithBatchTimeout(sendEvery), sdk.WithExportTimeout(sendWithin))
	t.provider = sdk.NewTracerProvider(
		sdk.WithSampler(sampler(o.Ratio, o.Alone)), sdk.WithResource(resourceOf(o.Resource)), sdk.WithRawSpanLimits(limits),
		sdk.WithSpanProcessor(&counting{t.batches, &t.made}),
	)
	t.tracer = t.provider.Tracer("github.com/decantdev/decant")
	return t
}

// limits are what a span may hold. No span comes near them.
var limits = sdk.SpanLimits{
	AttributeValueLengthLimit: 256, AttributeCountLimit: 64, EventCountLimit: 8, LinkCountLimit: mostLinks,
	AttributePerEventCountLimit: 8, AttributePerLinkCountLimit: 8,
}

// Close sends what waits, until the context ends; what has not been sent by then is lost.
func (t *Tracing) Close(ctx context.Context) {
	if t == nil {
		return
	}
	// the provider leaves the batches running if its time is over
	err := errors.Join(t.provider.Shutdown(ctx), t.batches.Shutdown(ctx))
	if err != nil {
		t.opts.Logger.Warn("not all traces were sent before the end", "error", err.Error())
	}
	t.client.Stop(ctx) // never fails
}

// Made returns how many spans were made. Those that Sent does not count are waiting or lost.
func (t *Tracing) Made() int64 { return t.made.Load() }

// Sent returns how many spans a collector has accepted.
func (t *Tracing) Sent() int64 { return t.client.Sent() }

// resourceOf describes the process. Its id tells processes of one service apart.
func resourceOf(about map[string]string) *resource.Resource {
	as := []attribute.KeyValue{attribute.String("service.instance.id", rand.Text())}
	for name, value := range about {
		as = append(as, attribute.String(name, value))
	}
	return resource.NewSchemaless(as...)
}

// counting counts the spans that will be sent.
type counting struct {
	sdk.SpanProcessor
	n *atomic.Int64
}

// OnEnd implements sdk.SpanProcessor.
func (c *counting) OnEnd(s sdk.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.n.Add(1)
	}
	c.SpanProcessor.OnEnd(s)
}
