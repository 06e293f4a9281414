package gateway_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/tracing"
	"github.com/decantdev/decant/testing/otlptest"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// A traced world is one whose gateway sends traces to a collector.
type tracedWorld struct {
	*world
	*otlptest.Collector
	tracing *tracing.Tracing
}

func newTracedWorld(t *testing.T, upstream http.Handler, o gateway.Options, eo engine.Options, to tracing.Options) *tracedWorld {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	c := otlptest.Start(t)
	o.Tracing = tracingTo(t, c.URL, to)
	return &tracedWorld{worldAt(t, up.URL, o, eo), c, o.Tracing}
}

// tracingTo sends traces to a collector, all of them unless the options say otherwise.
func tracingTo(t testing.TB, collector *url.URL, o tracing.Options) *tracing.Tracing {
	out, err := modelhttp.NewOutbound(modelhttp.OutboundOptions{Allow: []*url.URL{collector}})
	if err != nil {
		t.Fatal(err)
	}
	if o.Ratio == 0 && !o.Alone {
		o.Ratio = 1
	}
	o.Endpoint, o.Base, o.Preset, o.Resource = collector, out, "default", map[string]string{"service.name": "decant"}
	tr := tracing.New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what a test has not flushed is lost
		tr.Close(ctx)
		out.CloseIdleConnections()
	})
	return tr
}

// flush waits until every request has ended, was archived and is at the collector.
func (w *tracedWorld) flush() {
	w.t.Helper()
	w.server.Close()
	if err := w.engine.Close(); err != nil {
		w.t.Error(err)
	}
	w.tracing.Close(w.t.Context())
}

const (
	parentTrace = "0af7651916cd43dd8448eb211c80319c"
	parentSpan  = "b7ad6b7169203331"
	sampled     = "00-" + parentTrace + "-" + parentSpan + "-01"
)

func hexOf(id []byte) string { return fmt.Sprintf("%x", id) }

func TestARequestIsATrace(t *testing.T) {
	up := strict(sandbox.Options{})
	w := newTracedWorld(t, up, gateway.Options{}, engine.Options{}, tracing.Options{})
	stream := strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
	res, _ := w.post(w.url, "/v1/messages?beta=true", stream, "Traceparent", sampled, "Tracestate", "vendor=1,other=2")
	w.flush()

	root, call := w.Span("POST /v1/messages"), w.Span("chat claude-sonnet-4-5")
	if got := hexOf(root.TraceId) + " " + hexOf(root.ParentSpanId); got != parentTrace+" "+parentSpan {
		t.Errorf("the request is in %s, want the client's trace", got)
	}
	for name, want := range map[string]any{
		"http.request.method": "POST", "http.route": "/v1/messages", "http.response.status_code": 200, "url.scheme": "http",
		"server.address": "127.0.0.1", "http.request.body.size": len(stream), "decant.request.id": res.Header.Get("X-Decant-Request"),
		"decant.conversation.id": res.Header.Get("X-Decant-Conversation"), "decant.preset": "default", "decant.outcome": "forwarded", "decant.messages": 1,
	} {
		if root.Attrs[name] != want {
			t.Errorf("%s is %v, want %v", name, root.Attrs[name], want)
		}
	}
	if root.Kind != tracepb.Span_SPAN_KIND_SERVER || root.Status.GetCode() != tracepb.Status_STATUS_CODE_UNSET || root.Attrs["decant.client_left"] != nil {
		t.Errorf("the request is of kind %s, status %v, %v", root.Kind, root.Status, root.Attrs)
	}
	usage := up.Log.Last().Usage
	for name, want := range map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-sonnet-4-5",
		"gen_ai.usage.output_tokens": usage.Output, "gen_ai.usage.input_tokens": usage.Prompt(), "http.response.status_code": 200,
		"gen_ai.conversation.id": res.Header.Get("X-Decant-Conversation"), "server.address": "127.0.0.1", "url.template": "/v1/messages",
	} {
		if call.Attrs[name] != want {
			t.Errorf("the call's %s is %v, want %v", name, call.Attrs[name], want)
		}
	}
	if first, ok := call.Attrs["gen_ai.response.time_to_first_chunk"].(float64); !ok || first <= 0 {
		t.Errorf("first chunk after %v s", call.Attrs["gen_ai.response.time_to_first_chunk"])
	}
	if len(call.Events) != 1 || call.Events[0].Name != "decant.first_byte" || call.EndTimeUnixNano < call.Events[0].TimeUnixNano || call.EndTimeUnixNano > root.EndTimeUnixNano {
		t.Errorf("events of the call: %v", call.Events)
	}
	for _, name := range []string{"decant.read", "decant.prepare", "decant.finish", "chat "} {
		if s := w.Span(name); hexOf(s.ParentSpanId) != hexOf(root.SpanId) || hexOf(s.TraceId) != parentTrace {
			t.Errorf("%s is not a child of the request", name)
		}
	}
	if s := root.Resource["service.name"]; s != "decant" {
		t.Errorf("service %v", s)
	}
	if h := up.Log.Last().Header; h.Get("Traceparent") != "00-"+parentTrace+"-"+hexOf(call.SpanId)+"-01" || h.Get("Tracestate") != "vendor=1,other=2" {
		t.Errorf("the upstream got %q and %q", h["Traceparent"], h["Tracestate"])
	}
	if log := w.log.String(); !strings.Contains(log, " trace_id="+parentTrace+" span_id="+hexOf(root.SpanId)) {
		t.Errorf("the log does not name the span: %s", log)
	}
}

// Answers are archived behind the requests: a trace of its own, that says whose answers they are.
func TestTheArchiveIsLinked(t *testing.T) {
	w := newTracedWorld(t, strict(sandbox.Options{}), gateway.Options{}, engine.Options{}, tracing.Options{})
	w.post(w.url, "/v1/messages", hello, "Traceparent", sampled)
	w.flush()
	root, archive := w.Span("POST /v1/messages"), w.Span("decant.archive")
	if hexOf(archive.TraceId) == parentTrace || len(archive.ParentSpanId) > 0 || len(archive.Links) != 1 || hexOf(archive.Links[0].SpanId) != hexOf(root.SpanId) {
		t.Errorf("the archive is %v", archive)
	}
	if archive.Attrs["decant.blocks"] != 1 || archive.Attrs["decant.requests"] != 1 || archive.Attrs["decant.conversation.id"] != root.Attrs["decant.conversation.id"] {
		t.Errorf("of the archive it says %v", archive.Attrs)
	}
}

func TestHeadersThatAreNoTraceAreIgnored(t *testing.T) {
	up := strict(sandbox.Options{})
	w := newTracedWorld(t, up, gateway.Options{}, engine.Options{}, tracing.Options{})
	for _, c := range []struct{ name, parent string }{
		{"None", ""},
		{"Words", "nonsense"},
		{"NoTrace", "00-00000000000000000000000000000000-" + parentSpan + "-01"},
		{"NoSpan", "00-" + parentTrace + "-0000000000000000-01"},
		{"Capitals", "00-" + strings.ToUpper(parentTrace) + "-" + parentSpan + "-01"},
		{"Short", "00-" + parentTrace[1:] + "-" + parentSpan + "-01"},
		{"VersionThatIsNone", "ff-" + parentTrace + "-" + parentSpan + "-01"},
		{"More", sampled + "-more"},
		{"Long", sampled + strings.Repeat("0", 4000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := w.post(w.url, "/v1/messages", hello, "Traceparent", c.parent, "Tracestate", "vendor=1")
			got := up.Log.Last().Header
			if res.StatusCode != http.StatusOK || len(got["Traceparent"]) != 1 || len(got.Get("Traceparent")) != 55 || strings.Contains(got.Get("Traceparent"), parentTrace) {
				t.Errorf("status %d, traceparent %q", res.StatusCode, got["Traceparent"])
			}
			if got["Tracestate"] != nil {
				t.Errorf("tracestate %q goes on without its traceparent", got["Tracestate"])
			}
		})
	}
	t.Run("Twice", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Traceparent": {sampled, strings.Replace(sampled, parentSpan, "b7ad6b7169203332", 1)}, "Content-Type": {"application/json"}, "X-Api-Key": {"sk-ant-secret"}, "Anthropic-Version": {"2023-06-01"}}
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := up.Log.Last().Header["Traceparent"]; len(got) != 1 || strings.Contains(got[0], parentTrace) {
			t.Errorf("traceparent %q", got)
		}
	})
	t.Run("AVersionToCome", func(t *testing.T) {
		w.post(w.url, "/v1/messages", hello, "Traceparent", "01-"+parentTrace+"-"+parentSpan+"-01-more")
		if got := up.Log.Last().Header.Get("Traceparent"); !strings.HasPrefix(got, "00-"+parentTrace+"-") {
			t.Errorf("traceparent %q", got)
		}
	})
}

func TestWithoutTracingHeadersPass(t *testing.T) {
	up := strict(sandbox.Options{})
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	w.post(w.url, "/v1/messages", hello, "Traceparent", "as it came", "Tracestate", "vendor=1")
	if h := up.Log.Last().Header; h.Get("Traceparent") != "as it came" || h.Get("Tracestate") != "vendor=1" {
		t.Errorf("%q, %q", h["Traceparent"], h["Tracestate"])
	}
	w.post(w.url, "/v1/messages", hello)
	if h := up.Log.Last().Header; h["Traceparent"] != nil || h["Tracestate"] != nil || strings.Contains(w.logged(), "trace_id") {
		t.Errorf("%q, %q", h["Traceparent"], h["Tracestate"])
	}
}

func TestWhichTracesAreRecorded(t *testing.T) {
	unrecorded := strings.TrimSuffix(sampled, "01") + "00"
	for _, c := range []struct {
		name   string
		o      tracing.Options
		parent string
		flags  string // of what goes upstream
		spans  int
	}{
		{"ClientRecords", tracing.Options{Ratio: 1e-18}, sampled, "01", 1},
		{"ClientDoesNot", tracing.Options{Ratio: 1}, unrecorded, "00", 0},
		{"NoneAsked", tracing.Options{Ratio: 1e-18}, "", "00", 0},
		{"ClientDoesNotCount", tracing.Options{Ratio: 0, Alone: true}, sampled, "00", 0},
		{"NorWhenItDoesNot", tracing.Options{Ratio: 1, Alone: true}, unrecorded, "01", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := strict(sandbox.Options{})
			w := newTracedWorld(t, up, gateway.Options{}, engine.Options{}, c.o)
			w.post(w.url, "/v1/messages", hello, "Traceparent", c.parent)
			w.flush()
			got := up.Log.Last().Header.Get("Traceparent")
			if !strings.HasSuffix(got, "-"+c.flags) || c.parent != "" && !strings.HasPrefix(got, "00-"+parentTrace) || strings.Contains(got, parentSpan) {
				t.Errorf("traceparent %q", got)
			}
			if n := len(w.Spans("POST")); n != c.spans || c.spans == 0 && w.Tries() > 0 {
				t.Errorf("%d spans, %d requests to the collector", n, w.Tries())
			}
		})
	}
}

// A span says what was done about a request.
func TestOutcomes(t *testing.T) {
	ring := keyring.New(keyring.Options{Keys: []keyring.Key{{Tenant: "alice", Hash: sha256.Sum256([]byte("right"))}}})
	for _, c := range []struct {
		name    string
		path    string
		header  []string
		o       gateway.Options
		status  int
		outcome string
		reason  any
		failed  bool
	}{
		{"Key", "/v1/messages", nil, gateway.Options{Keys: ring}, 401, "refused", "key", false},
		{"OpenAI", "/v1/chat/completions", nil, gateway.Options{}, 400, "refused", "invalid", false},
		{"Path", "/v1/../x", nil, gateway.Options{}, 400, "refused", "invalid", false},
		{"Preset", "/v1/messages", []string{"X-Decant-Preset", "nobody's"}, gateway.Options{}, 400, "refused", "invalid", false},
		{"Elsewhere", "/v1/elsewhere", nil, gateway.Options{}, 404, "forwarded", nil, false},
		{"Off", "/v1/messages", []string{"X-Decant-Mode", "off"}, gateway.Options{}, 200, "forwarded", nil, false},
		{"Observe", "/v1/messages", []string{"X-Decant-Mode", "observe"}, gateway.Options{}, 200, "observed", nil, false},
		{"Count", "/v1/messages/count_tokens", nil, gateway.Options{}, 400, "forwarded", nil, false}, // max_tokens is not for it
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTracedWorld(t, strict(sandbox.Options{}), c.o, engine.Options{}, tracing.Options{})
			res, text := w.post(w.url, c.path, hello, c.header...)
			w.flush()
			s := w.Spans("POST")[0]
			if res.StatusCode != c.status || s.Attrs["http.response.status_code"] != c.status || s.Attrs["decant.outcome"] != c.outcome || s.Attrs["decant.refused.reason"] != c.reason {
				t.Errorf("status %d, %v, %s", res.StatusCode, s.Attrs, text)
			}
			if (s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR) != c.failed {
				t.Errorf("status %v", s.Status)
			}
		})
	}
}

// Tenants are named only where the settings say so.
func TestTenantsAreNamedOnlyIfAsked(t *testing.T) {
	for _, named := range []bool{false, true} {
		ring := keyring.New(keyring.Options{Keys: []keyring.Key{{Tenant: "alice", Hash: sha256.Sum256([]byte("right"))}}})
		w := newTracedWorld(t, strict(sandbox.Options{}), gateway.Options{Keys: ring}, engine.Options{}, tracing.Options{Tenants: named})
		w.post(w.url, "/v1/messages", hello, "X-Decant-Key", "right")
		w.flush()
		if got := w.Span("POST").Attrs["decant.tenant"] == "alice"; got != named || strings.Contains(string(w.Raw()), "alice") != named {
			t.Errorf("named: %t, want %t", got, named)
		}
	}
}

func TestPoursAndRecoveries(t *testing.T) {
	up := strict(sandbox.Options{Window: 40_000, Model: &sandbox.Rules{Calls: 1000}})
	w := newTracedWorld(t, up, gateway.Options{}, engine.Options{NoEarlyPours: true}, tracing.Options{}) // it takes the window for larger
	work(t, w.sdk(), true, testkit.Depth(26, 40))
	w.flush()
	refused := len(up.Log.Refused())
	poured, again := 0, 0
	for _, s := range w.Spans("POST /v1/messages") {
		if s.Attrs["decant.outcome"] != "poured" {
			continue
		}
		poured++
		if before, after := s.Attrs["decant.tokens.before"].(int), s.Attrs["decant.tokens.after"].(int); after >= before || s.Attrs["decant.pour.route"] == "" {
			t.Errorf("poured from %d to %d", before, after)
		}
		decided := 0
		for name := range s.Attrs {
			if strings.HasPrefix(name, "decant.decisions.") {
				decided++
			}
		}
		if decided == 0 {
			t.Errorf("no decisions in %v", s.Attrs)
		}
	}
	for _, s := range w.Spans("chat ") {
		if s.Attrs["http.request.resend_count"] == 1 {
			again++
		}
	}
	if refused == 0 || poured == 0 || again != refused || len(w.Spans("decant.recover")) != refused {
		t.Errorf("%d requests were refused, %d sent again, %d recovered, %d poured", refused, again, len(w.Spans("decant.recover")), poured)
	}
	for _, s := range w.Spans("decant.commit") {
		if len(s.ParentSpanId) == 0 || len(s.Links) > 0 {
			t.Errorf("a commit stands for itself: %v", s)
		}
	}
	if n := len(w.Spans("POST /v1/messages")); n+again != len(w.Spans("chat ")) {
		t.Errorf("%d requests, %d calls", n, len(w.Spans("chat ")))
	}
}

// A stream's spans end when the stream does.
func TestASpanEndsWithTheStream(t *testing.T) {
	up := newPaced()
	w := newTracedWorld(t, up, gateway.Options{}, engine.Options{}, tracing.Options{})
	res, err := w.client.Post(w.url+"/v1/messages", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	up.send <- "event: ping\ndata: {}\n\n"
	late := time.Now()
	close(up.send)
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	w.flush()
	for _, name := range []string{"POST", "chat "} {
		if s := w.Span(name); s.EndTimeUnixNano < uint64(late.UnixNano()) {
			t.Errorf("%s ends before the stream", name)
		}
	}
}

func TestAClientThatLeavesIsNoError(t *testing.T) {
	up := newPaced()
	w := newTracedWorld(t, up, gateway.Options{}, engine.Options{}, tracing.Options{})
	res, err := w.client.Post(w.url+"/v1/messages", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	up.send <- "event: ping\ndata: {}\n\n"
	if _, err := res.Body.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	<-up.ended
	w.flush()
	root, call := w.Span("POST"), w.Span("chat ")
	if root.Attrs["decant.client_left"] != true || root.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR || root.Attrs["error.type"] != nil {
		t.Errorf("%v, status %v", root.Attrs, root.Status)
	}
	if call.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR || call.Attrs["http.response.status_code"] != 200 {
		t.Errorf("%v, status %v", call.Attrs, call.Status)
	}
}

func TestAnUpstreamThatFailsIsAnError(t *testing.T) {
	up := strict(sandbox.Options{})
	w := newTracedWorld(t, up, gateway.Options{}, engine.Options{}, tracing.Options{})
	stream := strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
	up.Inject(sandbox.Fault{Kind: sandbox.FaultReset, After: 3}, sandbox.Fault{Kind: sandbox.FaultInternal})
	w.try(w.url, "/v1/messages", stream)
	w.try(w.url, "/v1/messages", hello)
	w.flush()
	broken, internal := w.Spans("POST")[0], w.Spans("POST")[1]
	if broken.Attrs["error.type"] != "broken_off" || broken.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || broken.Attrs["decant.client_left"] != nil {
		t.Errorf("a stream that broke off: %v", broken.Attrs)
	}
	if internal.Attrs["error.type"] != "500" || w.Spans("chat ")[1].Attrs["error.type"] != "500" || w.Spans("chat ")[0].Attrs["error.type"] == nil {
		t.Errorf("an error of the upstream: %v, %v", internal.Attrs, w.Spans("chat ")[1].Attrs)
	}
}

func TestNoAnswerIsAnError(t *testing.T) {
	up := httptest.NewServer(http.NotFoundHandler())
	up.Close()
	c := otlptest.Start(t)
	o := gateway.Options{Tracing: tracingTo(t, c.URL, tracing.Options{})}
	w := &tracedWorld{worldAt(t, up.URL, o, engine.Options{}), c, o.Tracing}
	w.post(w.url, "/v1/messages", hello)
	w.flush()
	root, call := w.Span("POST"), w.Span("chat ")
	if root.Attrs["decant.outcome"] != "failed" || root.Attrs["error.type"] != "502" || call.Attrs["error.type"] != "connection_refused" {
		t.Errorf("%v, %v", root.Attrs, call.Attrs)
	}
}

// Whatever a collector does, requests are answered as without one, and the log says it once.
func TestACollectorInTroubleIsNobodyElses(t *testing.T) {
	hang := make(chan struct{})
	for name, collector := range map[string]http.HandlerFunc{
		"Errors": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"Hangs":  func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-hang },
		"Cuts":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"Forward": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
		"Gone": nil,
	} {
		t.Run(name, func(t *testing.T) {
			c := httptest.NewServer(collector)
			t.Cleanup(c.Close)
			if collector == nil {
				c.Close()
			}
			at, err := url.Parse(c.URL + "/v1/traces")
			if err != nil {
				t.Fatal(err)
			}
			up := strict(sandbox.Options{})
			srv := httptest.NewServer(up)
			t.Cleanup(srv.Close)
			log := &record{}
			tr := tracingTo(t, at, tracing.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			w := worldAt(t, srv.URL, gateway.Options{Tracing: tr}, engine.Options{})
			for range 260 { // of two spans each: more than are sent at once
				if res, _ := w.post(w.url, "/v1/elsewhere", ""); res.StatusCode != http.StatusNotFound || res.Header.Get("X-Decant-Fault") != "" {
					t.Fatalf("status %d, %v", res.StatusCode, res.Header)
				}
			}
			if res, text := w.post(w.url, "/v1/messages", hello); res.StatusCode != http.StatusOK || !strings.Contains(text, `"end_turn"`) || res.Header.Get("X-Decant-Fault") != "" {
				t.Errorf("status %d, %v: %s", res.StatusCode, res.Header, text)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			tr.Close(ctx)
			if n := strings.Count(log.String(), "traces cannot be sent"); n > 1 || n == 0 && tr.Sent() > 0 {
				t.Errorf("the log says %d times: %s", n, log)
			}
			if tr.Sent() != 0 || tr.Made() < 520 {
				t.Errorf("%d of %d spans were sent", tr.Sent(), tr.Made())
			}
			if name == "Hangs" {
				close(hang)
			}
		})
	}
}
