package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/tracing"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// answering is an upstream without a network.
type answering string

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader([]byte(a))), ContentLength: int64(len(a)),
	}, nil
}

// BenchmarkTracing: the same request again and again, through the gateway alone: without tracing, where this trace
// is not recorded, and where it is. Without, it must cost what it did before there was any.
func BenchmarkTracing(b *testing.B) {
	body := talk(1, 13_500, 1)[0]
	for _, c := range []struct {
		name string
		o    *tracing.Options
	}{{"Off", nil}, {"NotRecorded", &tracing.Options{Ratio: 1e-18}}, {"Recorded", &tracing.Options{Ratio: 1}}} {
		b.Run(c.name, func(b *testing.B) {
			up, err := url.Parse("https://api.anthropic.com")
			if err != nil {
				b.Fatal(err)
			}
			o := gateway.Options{Upstream: up, Outbound: answering(`{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":3000,"output_tokens":20}}`)}
			if c.o != nil {
				collector := httptest.NewServer(handler(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
				b.Cleanup(collector.Close)
				at, err := url.Parse(collector.URL)
				if err != nil {
					b.Fatal(err)
				}
				o.Tracing = tracingTo(b, at, *c.o)
			}
			db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "decant.db"), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			if o.Engine, err = engine.New(o.Tracing.Store(db), engine.Options{ArchiveDelay: time.Hour, Timeouts: sandboxtest.Patient}); err != nil {
				b.Fatal(err)
			}
			defer o.Engine.Close()
			g, err := gateway.New(o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "http://127.0.0.1/v1/messages", bytes.NewReader(body))
				w := httptest.NewRecorder()
				if g.ServeHTTP(w, r); w.Code != 200 {
					b.Fatalf("status %d: %s", w.Code, w.Body)
				}
			}
		})
	}
}
