package tracing

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/testing/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// to is a tracing to a collector, and what it logs.
func to(t *testing.T, c *otlptest.Collector) (*Tracing, *lines) {
	log, tr := &lines{}, &http.Transport{}
	tracing := New(Options{Endpoint: c.URL, Base: tr, Ratio: 1, Logger: slog.New(slog.NewTextHandler(log, nil))})
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		tracing.Close(ctx)
		tr.CloseIdleConnections()
	})
	return tracing, log
}

// lines is a log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), what)
}

// one traces a request.
func (t *Tracing) one(test *testing.T) {
	test.Helper()
	r, err := http.NewRequestWithContext(test.Context(), http.MethodGet, "http://127.0.0.1/", nil)
	if err != nil {
		test.Fatal(err)
	}
	_, q := t.Begin(r.Context(), r, "id", index.Default, dialect.Door{})
	q.End(End{Status: 200, Whole: true})
}

// A collector that takes its time holds nobody up, and what waits for it is bounded.
func TestWhatWaitsIsBounded(t *testing.T) {
	c := otlptest.Start(t)
	asked, release := make(chan struct{}), make(chan struct{})
	c.Next(func(w http.ResponseWriter) { close(asked); <-release; w.WriteHeader(http.StatusBadRequest) })
	tr, _ := to(t, c)
	const many = 4 * mostWaiting
	for range many {
		tr.one(t) // returns while the collector does not
	}
	<-asked
	close(release)
	tr.Close(t.Context())
	if got := len(c.Spans("GET")); got == 0 || got > mostWaiting+mostAtOnce {
		t.Errorf("%d spans have waited, want %d at most", got, mostWaiting+mostAtOnce)
	}
	if tr.Made() != many || tr.Sent() != int64(len(c.Spans("GET"))) {
		t.Errorf("%d spans made, %d sent", tr.Made(), tr.Sent())
	}
}

// What goes wrong is said once, and once that it does no longer.
func TestTroubleIsLoggedOnce(t *testing.T) {
	c := otlptest.Start(t)
	bad := func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadRequest) }
	tr, log := to(t, c)
	for i, want := range []struct{ failed, again int }{{1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 1}, {2, 1}} {
		if i < 3 || i == 5 {
			c.Next(bad)
		}
		tr.one(t)
		if err := tr.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f, a := log.count("traces cannot be sent"), log.count("traces are sent again"); f != want.failed || a != want.again {
			t.Errorf("batch %d: logged %d and %d times", i, f, a)
		}
	}
	if log.count("lost=3") != 1 {
		t.Errorf("the log says %s", log.buf.String())
	}
}

// The end does not wait for a collector longer than it may.
func TestCloseEndsInTime(t *testing.T) {
	c := otlptest.Start(t)
	asked, release := make(chan struct{}), make(chan struct{})
	c.Next(func(http.ResponseWriter) { close(asked); <-release })
	tr, log := to(t, c)
	tr.one(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	tr.Close(ctx) // returns, though the collector does not
	close(release)
	if log.count("not all traces were sent") != 1 {
		t.Errorf("the log says %s", log.buf.String())
	}
}

// Conversations that are never archived do not pile up.
func TestWhatIsNotArchivedIsBounded(t *testing.T) {
	var w waiting
	at := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	for i := range 2 * mostConversations {
		w.add(string(rune('a'+i%26))+strings.Repeat("x", i/26), at)
	}
	for range 2 * mostLinks {
		w.add("a", at)
	}
	if len(w.by) != mostConversations || len(w.of("a")) != mostLinks {
		t.Errorf("%d conversations, %d links", len(w.by), len(w.of("a")))
	}
	w.remove("a", mostLinks-1)
	if len(w.of("a")) != 1 {
		t.Errorf("%d links are left", len(w.of("a")))
	}
	if w.remove("a", 1); w.of("a") != nil || len(w.by) != mostConversations-1 {
		t.Errorf("%d conversations are left", len(w.by))
	}
}
