package tracing

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
)

// A call is one request to the upstream.
type call struct {
	span   trace.Span
	begin  time.Time
	first  time.Time // first byte of the answer's body
	ended  time.Time // end of the body, or of reading
	stream bool
}

// Send begins a call, and returns the request to send, which names its span.
func (q *Request) Send(r *http.Request) *http.Request {
	if q == nil {
		return r
	}
	q.endCall(nil)
	ctx, at := r.Context(), q.span.SpanContext()
	if q.span.IsRecording() {
		c := &call{begin: time.Now()}
		ctx, c.span = q.t.tracer.Start(ctx, q.callName(r), trace.WithSpanKind(trace.SpanKindClient))
		q.describe(c.span, r)
		q.call, at = c, c.span.SpanContext()
	}
	q.tries++
	out := r.WithContext(ctx)
	out.Header = r.Header.Clone()
	propagate(out, at)
	return out
}

// ofModel reports whether the request is answered by a model.
func (q *Request) ofModel() bool { return q.door.Kind == dialect.Prompt }

// callName returns the name of a call's span, by the conventions.
func (q *Request) callName(r *http.Request) string {
	switch {
	case q.ofModel() && q.model != "":
		return "chat " + q.model
	case q.ofModel():
		return "chat"
	case q.door.Route != "":
		return methodOf(r) + " " + q.door.Route
	}
	return methodOf(r)
}

// describe says where a call goes, without the path, which may hold anything.
func (q *Request) describe(s trace.Span, r *http.Request) {
	host, port := hostOf(r.URL)
	s.SetAttributes(httpMethod.String(methodOf(r)), serverAddress.String(host), serverPort.Int(port))
	if q.door.Route != "" {
		s.SetAttributes(urlTemplate.String(q.door.Route))
	}
	if q.tries > 0 {
		s.SetAttributes(httpResend.Int(q.tries))
	}
	if !q.ofModel() {
		return
	}
	s.SetAttributes(aiOperation.String("chat"), aiProvider.String(string(q.api.About().Provider)))
	if q.model != "" {
		s.SetAttributes(aiModel.String(q.model))
	}
	if q.prepared != nil && q.prepared.Conversation != "" {
		s.SetAttributes(aiConversation.String(q.prepared.Conversation))
	}
}

// hostOf returns the host and the port of a URL.
func hostOf(u *url.URL) (host string, port int) {
	port, err := strconv.Atoi(u.Port())
	switch {
	case err == nil:
	case u.Scheme == "http":
		port = 80
	default:
		port = 443
	}
	return u.Hostname(), port
}

// Answered notes how the call was answered, and follows the answer's body to its end.
func (q *Request) Answered(res *http.Response, err error) {
	if q == nil || q.call == nil {
		return
	}
	c := q.call
	if err != nil {
		c.fail(err)
		return
	}
	c.span.SetAttributes(httpStatus.Int(res.StatusCode))
	failedStatus(c.span, res.StatusCode, http.StatusBadRequest)
	if res.StatusCode == http.StatusSwitchingProtocols { // its body is a connection, and must stay one
		return
	}
	c.stream = strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	res.Body = &followed{res.Body, c}
}

// fail records why there is no answer, or not all of it. If the client has left, that is no failure.
func (c *call) fail(err error) {
	c.ended = time.Now()
	if kind := kindOf(err); kind != "canceled" {
		failed(c.span, kind)
	}
}

// followed is the body of an answer.
type followed struct {
	io.ReadCloser
	call *call
}

// Read reads from the body.
func (f *followed) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	c := f.call
	if n > 0 && c.first.IsZero() {
		c.first = time.Now()
		c.span.AddEvent("decant.first_byte", trace.WithTimestamp(c.first))
	}
	switch {
	case errors.Is(err, io.EOF):
		c.ended = time.Now()
	case err != nil:
		c.fail(err)
	}
	return n, err
}

// Close ends the answer, also one that was not read to its end.
func (f *followed) Close() error {
	if f.call.ended.IsZero() {
		f.call.ended = time.Now()
	}
	return f.ReadCloser.Close()
}

// endCall ends the last call, if there was one. u is what it used, nil if that is unknown.
func (q *Request) endCall(u *decant.Usage) {
	c := q.call
	if c == nil {
		return
	}
	q.call = nil
	if c.stream && !c.first.IsZero() && q.ofModel() {
		c.span.SetAttributes(aiFirstChunk.Float64(c.first.Sub(c.begin).Seconds()))
	}
	if u != nil && u.Context() > 0 {
		c.span.SetAttributes(aiInput.Int(u.Prompt()), aiOutput.Int(u.Output), aiCacheRead.Int(u.CacheRead),
			aiCacheWrite.Int(u.CacheWrite))
	}
	if c.ended.IsZero() {
		c.ended = time.Now()
	}
	c.span.End(trace.WithTimestamp(c.ended))
}
