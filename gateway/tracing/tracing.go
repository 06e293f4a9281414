// Package tracing says in spans what a gateway does with its requests, and sends them to a collector of
// OpenTelemetry. No span holds anything that was said: what clients write stands in none of them, in no form, but
// for the model's name where it looks like one, and the ids of traces that they are in.
//
// A nil *Tracing and a nil *Request are those of a gateway that does not trace: their methods do nothing and cost
// nothing.
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

	// Base carries them: the only way out of the process.
	Base http.RoundTripper

	// Ratio is the part of the traces that is recorded, 0 to 1. Where a client says whether its trace is, that
	// counts, unless Alone is set.
	Ratio float64
	Alone bool

	// Upstream is whom requests are sent to.
	Upstream *url.URL

	// Preset is the policy of requests that have no other one.
	Preset string

	// Tenants has spans name the tenant.
	Tenants bool

	// Resource says what process it is; service.name should be among it.
	Resource map[string]string

	// Logger gets a warning when spans cannot be sent, and a line when they can be again. Nil means that nothing is
	// logged.
	Logger *slog.Logger
}

// What waits to be sent is bounded: spans that find no room are lost. Each takes two kilobytes at most.
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

// New returns a Tracing. Nothing is connected before there is something to send.
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

// limits are what a span may hold. None comes near them.
var limits = sdk.SpanLimits{
	AttributeValueLengthLimit: 256, AttributeCountLimit: 64, EventCountLimit: 8, LinkCountLimit: mostLinks,
	AttributePerEventCountLimit: 8, AttributePerLinkCountLimit: 8,
}

// Close sends what waits, until the context ends; what has not been sent by then is lost.
func (t *Tracing) Close(ctx context.Context) {
	if t == nil {
		return
	}
	err := errors.Join(t.provider.Shutdown(ctx), t.batches.Shutdown(ctx)) // the provider leaves it running where there is no time
	if err != nil {
		t.opts.Logger.Warn("not all traces were sent before the end", "error", err.Error())
	}
	t.client.Stop(ctx) // never fails
}

// Made and Sent return how many spans there were and how many of them a collector has taken. Those that are in
// neither wait, or are lost.
func (t *Tracing) Made() int64 { return t.made.Load() }

// Sent returns how many spans a collector has taken.
func (t *Tracing) Sent() int64 { return t.client.Sent() }

// resourceOf describes the process. Its id tells processes of one service apart.
func resourceOf(about map[string]string) *resource.Resource {
	as := []attribute.KeyValue{attribute.String("service.instance.id", rand.Text())}
	for name, value := range about {
		as = append(as, attribute.String(name, value))
	}
	return resource.NewSchemaless(as...)
}

// counting counts the spans that are to be sent.
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
