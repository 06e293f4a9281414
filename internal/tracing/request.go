package tracing

import (
	"context"
	"net"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/transport"
)

// A Request is one request of a client, as it is traced. Its methods are called by one goroutine at a time.
type Request struct {
	t        *Tracing
	span     trace.Span
	api      dialect.API
	door     dialect.Door
	prepared *engine.Prepared // nil: nothing was managed
	model    string
	call     *call // the last call to the upstream, or nil
	tries    int
}

var _ transport.Watcher = (*Request)(nil)

// Begin begins the span of a request. Its id is the one that the answer carries. The returned context is for
// the work on the request.
func (t *Tracing) Begin(ctx context.Context, r *http.Request, id string, api dialect.API, door dialect.Door) (context.Context, *Request) {
	if t == nil {
		return ctx, nil
	}
	name := methodOf(r)
	if door.Route != "" {
		name += " " + door.Route
	}
	ctx, span := t.tracer.Start(remote(ctx, r.Header), name, trace.WithSpanKind(trace.SpanKindServer))
	q := &Request{t: t, span: span, api: api, door: door}
	if !span.IsRecording() {
		return ctx, q
	}
	span.SetAttributes(httpMethod.String(methodOf(r)), urlScheme.String(schemeOf(r)),
		protocolVersion.String(protocolOf(r)), requestID.String(id))
	if door.Route != "" {
		span.SetAttributes(httpRoute.String(door.Route))
	}
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok { // not the Host header, which is the client's
		span.SetAttributes(serverAddress.String(at.IP.String()), serverPort.Int(at.Port))
	}
	return ctx, q
}

// IDs returns the ids of the request's trace and span as logs show them, empty when it is not traced.
func (q *Request) IDs() (traceID, spanID string) {
	if q == nil {
		return "", ""
	}
	at := q.span.SpanContext()
	return at.TraceID().String(), at.SpanID().String()
}

// Step implements transport.Watcher.
func (q *Request) Step(ctx context.Context, s transport.Step) (context.Context, func()) {
	if !q.span.IsRecording() {
		return ctx, func() {}
	}
	if p := q.prepared; s == transport.Finishing && p.Conversation != "" && q.ofModel() {
		q.t.waiting.add(p.Conversation, q.span.SpanContext())
	}
	ctx, span := q.t.tracer.Start(ctx, "decant."+string(s))
	return ctx, func() { span.End() }
}

// Prepared implements transport.Watcher.
func (q *Request) Prepared(p *engine.Prepared, model func() string) {
	first := q.prepared == nil
	q.prepared = p
	if first && q.span.IsRecording() {
		q.model = modelName(model())
	}
}

// methods are the methods of HTTP. Other methods are a client's own words and are not shown.
var methods = []string{
	http.MethodConnect, http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions,
	http.MethodPatch, http.MethodPost,
	http.MethodPut, http.MethodTrace,
}

func methodOf(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return unknown
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

func protocolOf(r *http.Request) string {
	switch {
	case r.ProtoMajor == 2:
		return "2"
	case r.ProtoMinor == 0:
		return "1.0"
	}
	return "1.1"
}
