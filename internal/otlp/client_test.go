package otlp_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/decantdev/decant/internal/otlp"
	"github.com/decantdev/decant/testing/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// base is a transport of the test's own.
func base(t *testing.T) http.RoundTripper {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// two are two spans, with what clients have written into their tracestate.
func two() []*tracepb.ResourceSpans {
	span := func(name string) *tracepb.Span {
		return &tracepb.Span{Name: name, TraceState: "secret=1", Links: []*tracepb.Span_Link{{TraceState: "secret=2"}}}
	}
	return []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{span("a"), span("b")}}}}}
}

func status(code int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		w.Write([]byte("an answer that nobody repeats"))
	}
}

// partly is the answer of a collector that has rejected n spans.
func partly(n uint64) func(http.ResponseWriter) {
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), n)
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "too old")
	return func(w http.ResponseWriter) {
		w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial))
	}
}

func TestSpansArriveOrAreSentAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []func(http.ResponseWriter)
		tries   int
		sent    int64
		err     string
	}{
		{"AtOnce", nil, 1, 2, ""},
		{
			"Later",
			[]func(http.ResponseWriter){
				status(503), status(429, "Retry-After", "0"), status(502),
				status(504, "Retry-After", "Sun, 22 Nov 2026 00:00:00 GMT"),
			},
			5, 2, "",
		},
		{"Never", []func(http.ResponseWriter){status(400)}, 1, 0, "the collector answers 400"},
		{"NotWithoutKey", []func(http.ResponseWriter){status(401)}, 1, 0, "the collector answers 401"},
		{
			"NotByRedirect", []func(http.ResponseWriter){status(307, "Location", "http://127.0.0.1:1/")}, 1, 0,
			"the collector answers 307",
		},
		{"TooLate", []func(http.ResponseWriter){status(503, "Retry-After", "3600")}, 1, 0, "the collector answers 503"},
		{"Partly", []func(http.ResponseWriter){partly(1)}, 1, 1, "the collector has rejected 1 spans"},
		{"WithAWord", []func(http.ResponseWriter){partly(0)}, 1, 2, ""},
		{"Nonsense", []func(http.ResponseWriter){status(200)}, 1, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			collector := otlptest.Start(t)
			collector.Next(c.answers...)
			client := otlp.New(otlp.Options{
				Endpoint: collector.URL, Base: base(t), Header: http.Header{"Api-Key": {"k"}},
				Pause: time.Microsecond,
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := client.UploadTraces(ctx, two())
			if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if collector.Tries() != c.tries || client.Sent() != c.sent {
				t.Errorf("%d requests, %d spans sent", collector.Tries(), client.Sent())
			}
			for _, h := range collector.Headers() {
				if h.Get("Api-Key") != "k" {
					t.Errorf("headers %v", h)
				}
			}
			if strings.Contains(string(collector.Raw()), "secret") {
				t.Error("tracestate was sent")
			}
		})
	}
}

// Nothing waits for a collector once the client has been stopped.
func TestStopEndsWhatIsUnderWay(t *testing.T) {
	collector := otlptest.Start(t)
	asked := make(chan struct{})
	collector.Next(func(w http.ResponseWriter) { status(503, "Retry-After", "3000")(w); close(asked) })
	client := otlp.New(otlp.Options{Endpoint: collector.URL, Base: base(t)})
	ended := make(chan error, 1)
	go func() { ended <- client.UploadTraces(context.Background(), two()) }()
	<-asked
	client.Stop(t.Context())
	if err := <-ended; err == nil {
		t.Error("it was sent")
	}
	if err := client.UploadTraces(t.Context(), two()); err == nil || collector.Tries() != 1 {
		t.Errorf("%v after the end, %d requests", err, collector.Tries())
	}
}

func TestACollectorThatIsNotThere(t *testing.T) {
	at, err := url.Parse("http://127.0.0.1:1/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	client := otlp.New(otlp.Options{Endpoint: at, Base: base(t), Pause: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := client.UploadTraces(ctx, two()); err == nil ||
		!strings.Contains(err.Error(), "the collector gives no answer") {
		t.Errorf("error %v", err)
	}
}
