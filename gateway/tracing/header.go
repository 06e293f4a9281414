package tracing

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// carrier reads and writes the headers of W3C Trace Context. Where traceparent comes twice nobody can say which
// one is meant: there is none then. The lines of tracestate are one list.
type carrier struct{ http.Header }

var _ propagation.TextMapCarrier = carrier{}

// Get returns a header.
func (c carrier) Get(name string) string {
	switch lines := c.Values(name); {
	case len(lines) == 1:
		return lines[0]
	case name == "tracestate":
		return strings.Join(lines, ",")
	}
	return ""
}

// Keys returns nothing: nobody asks.
func (carrier) Keys() []string { return nil }

// remote returns ctx as that of work that a client has begun, as its headers say. Headers that say nothing, or
// nothing that can be read, leave it as it is.
func remote(ctx context.Context, h http.Header) context.Context {
	if _, ok := h["Traceparent"]; !ok {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, carrier{h})
}

// propagate has a request say which span it belongs to. What the client said of its own does not go on.
func propagate(r *http.Request, span trace.SpanContext) {
	r.Header.Del("Traceparent")
	r.Header.Del("Tracestate")
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(r.Context(), span), carrier{r.Header})
}
