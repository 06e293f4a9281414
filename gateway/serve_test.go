package gateway_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/modelhttp"
)

// serving is a gateway that serves for itself.
type serving struct {
	*world
	base  string
	stop  context.CancelFunc
	ended chan error
}

func serve(t *testing.T, upstream http.Handler, drain time.Duration) *serving {
	t.Helper()
	s := &serving{world: newWorld(t, upstream, gateway.Options{}, engine.Options{}), ended: make(chan error, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.base = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() { s.ended <- s.gateway.Serve(ctx, l, drain) }()
	return s
}

func TestDrainFinishesStreams(t *testing.T) {
	up := newPaced()
	s := serve(t, up, time.Minute)
	res, err := s.client.Post(s.base+"/v1/messages", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	s.stop()
	for { // until it takes no more connections
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			break
		}
		conn.Close()
	}
	up.send <- "event: ping\ndata: {}\n\n"
	close(up.send)
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "event: ping\ndata: {}\n\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("drained with %v", err)
	}
	if res, text := get(t, s.world, "/readyz"); res.StatusCode != http.StatusServiceUnavailable || text != "draining\n" {
		t.Errorf("readiness after draining: %d %q", res.StatusCode, text)
	}
}

func TestDrainIsBounded(t *testing.T) {
	up := newPaced()
	s := serve(t, up, time.Millisecond)
	res, err := s.client.Post(s.base+"/v1/messages", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	s.stop()
	if err := <-s.ended; err == nil || !strings.Contains(err.Error(), "still open after 1ms") {
		t.Errorf("drained with %v", err)
	}
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("a stream that was cut looks whole")
	}
	if err := <-up.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the upstream request ended with %v", err)
	}
}

func TestReadinessFollowsTheStore(t *testing.T) {
	broken := errors.New("disk full")
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{Ready: func(context.Context) error { return broken }}, engine.Options{})
	if res, text := get(t, w, "/readyz"); res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "disk full") {
		t.Errorf("%d %q", res.StatusCode, text)
	}
	if res, _ := get(t, w, "/healthz"); res.StatusCode != http.StatusOK {
		t.Errorf("liveness %d", res.StatusCode)
	}
}

// When the store fails, requests are forwarded as they came and say so.
func TestStoreThatFailsDoesNotStopRequests(t *testing.T) {
	seen := make(chan arrived, 1)
	w := newWorld(t, echo(seen, 200, nil, "ok"), gateway.Options{}, engine.Options{})
	w.store.Close()
	res, text := w.post(w.url, "/v1/messages", hello)
	if got := <-seen; got.body != hello || res.StatusCode != 200 || text != "ok" {
		t.Errorf("status %d, %q; the upstream got %q", res.StatusCode, text, got.body)
	}
	if f := res.Header.Get("X-Decant-Fault"); !strings.Contains(f, "closed") {
		t.Errorf("x-decant-fault %q", f)
	}
	if log := w.logged(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "fault=") {
		t.Errorf("the log does not say it:\n%s", log)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	if _, err := gateway.New(gateway.Options{}); err == nil {
		t.Error("a gateway without an engine")
	}
	if _, err := modelhttp.NewOutbound(modelhttp.OutboundOptions{CA: [][]byte{[]byte("no certificate")}}); err == nil {
		t.Error("authorities that are none")
	}
}
