//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/decantdev/decant/testing/otlptest"
)

// What a gateway has traced is at the collector when it has ended: the last request and its archive, too.
func TestTracesOfARunningGateway(t *testing.T) {
	c := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", strings.TrimSuffix(c.URL.String(), "/v1/traces"))
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=of%20the%20collector")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	up := upstream(t)
	off := start(t, "anthropic_upstream: "+up)
	off.has("without a setting", "", 200)
	off.signal(syscall.SIGTERM)
	off.says("msg=stopped")
	off.cmd.Wait()
	if c.Tries() != 0 {
		t.Error("variables alone have switched tracing on")
	}

	p := start(t, fmt.Sprintf("anthropic_upstream: %s\ntracing: {endpoint: env}\nmetrics_listen: 127.0.0.1:0", up))
	if p.attr["traces"] != c.URL.String() {
		t.Errorf("it says that traces go to %q", p.attr["traces"])
	}
	p.has("a request", "", 200)
	res, err := http.Get("http://" + p.attr["metrics"] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if !strings.Contains(string(text), `decant_spans_total{kind="made"} `) {
		t.Error("the metrics do not count spans")
	}
	t.Setenv("DECANT_ANTHROPIC_UPSTREAM", up)
	t.Setenv("DECANT_TRACING_ENDPOINT", "env")
	if out := p.decant("doctor"); !strings.Contains(out, "ok    traces        "+c.URL.String()+" takes them") {
		t.Errorf("the doctor says %s", out)
	}
	c.Next(func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) })
	if out := p.decant("doctor"); !strings.Contains(out, "warn  traces ") || !strings.Contains(out, "the collector answers 401") {
		t.Errorf("the doctor says %s", out)
	}
	p.signal(syscall.SIGTERM)
	p.says("msg=stopped")
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	root, archive := c.Span("POST /v1/messages"), c.Span("decant.archive")
	if len(archive.Links) != 1 || string(archive.Links[0].SpanId) != string(root.SpanId) || root.Attrs["decant.preset"] != "default" {
		t.Errorf("%v, %v", root, archive)
	}
	if r := root.Resource; r["service.name"] != "decant" || r["service.version"] == nil || r["service.instance.id"] == nil || r["deployment.environment.name"] != "test" {
		t.Errorf("the process is described as %v", r)
	}
	if h := c.Headers()[0]; h.Get("Api-Key") != "of the collector" {
		t.Errorf("headers %v", h)
	}
}

// A collector that takes no answer out of its hands does not keep a gateway from ending.
func TestACollectorThatHangsAtTheEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-release
	}))
	defer c.Close()
	defer close(release)
	p := start(t, fmt.Sprintf("anthropic_upstream: %s\ntracing: {endpoint: %s}", upstream(t), c.URL))
	p.has("a request", "", 200)
	p.signal(syscall.SIGTERM)
	p.says("not all traces were sent before the end")
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
