package tracing

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// carrier reads and writes the headers of W3C Trace Context. If traceparent occurs twice, it is not clear which one is
// meant, so it counts as missing. The lines of tracestate are one list.
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

// Keys returns nothing, because no propagator here uses it.
func (carrier) Keys() []string { return nil }

// remote returns ctx with the trace that the client's headers name. If they name none, or cannot be read, it returns
// ctx.
func remote(ctx context.Context, h http.Header) context.Context {
	if _, ok := h["Traceparent"]; !ok {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, carrier{h})
}

// propagate makes a request name its span, in place of the span that the client named.
func propagate(r *http.Request, span trace.SpanContext) {
	r.Header.Del("Traceparent")
	r.Header.Del("Tracestate")
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(r.Context(), span), carrier{r.Header})
}
