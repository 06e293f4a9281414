// Package otlptest is a collector of traces for tests, on loopback.
package otlptest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A Collector takes spans as a real one does, and keeps them.
type Collector struct {
	URL *url.URL // to post to

	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex
	answers []func(http.ResponseWriter) // to the next requests; then all are taken
	headers []http.Header
	raw     []byte // everything that came, unpacked
	spans   []*Span
	tries   int
}

// A Span is a span as it came.
type Span struct {
	*tracepb.Span
	Attrs    map[string]any
	Resource map[string]any
}

// Start starts a collector that ends with the test.
func Start(t testing.TB) *Collector {
	c := &Collector{t: t}
	c.server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.server.Close)
	c.URL, _ = url.Parse(c.server.URL + "/v1/traces") // the server's own, which can be parsed
	return c
}

// Next has the collector answer the next request in another way; it does not take what comes with it.
func (c *Collector) Next(answers ...func(http.ResponseWriter)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, answers...)
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Content-Encoding") != "gzip" {
		c.t.Errorf("the collector got %s %s with %v", r.Method, r.URL, r.Header)
	}
	body, err := unpacked(r.Body)
	if err != nil {
		c.t.Errorf("the collector cannot read what came: %v", err)
	}
	if answer := c.note(r, body); answer != nil {
		answer(w)
		return
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		c.t.Errorf("the collector cannot understand what came: %v", err)
	}
	c.take(&data)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func unpacked(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// note keeps what came, and returns how it is to be answered if it is not taken.
func (c *Collector) note(r *http.Request, body []byte) (answer func(http.ResponseWriter)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tries++
	c.headers = append(c.headers, r.Header)
	c.raw = fmt.Appendf(append(c.raw, body...), "%s %v", r.URL, r.Header)
	if len(c.answers) > 0 {
		answer, c.answers = c.answers[0], c.answers[1:]
	}
	return answer
}

func (c *Collector) take(data *tracepb.TracesData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range data.ResourceSpans {
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, &Span{s, attrs(s.Attributes), attrs(r.Resource.GetAttributes())})
			}
		}
	}
}

func attrs(kvs []*commonpb.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range kvs {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			out[kv.Key] = int(v.IntValue)
		case *commonpb.AnyValue_DoubleValue:
			out[kv.Key] = v.DoubleValue
		case *commonpb.AnyValue_BoolValue:
			out[kv.Key] = v.BoolValue
		default:
			out[kv.Key] = fmt.Sprint(kv.Value)
		}
	}
	return out
}

// Tries returns how many requests came, and Headers theirs.
func (c *Collector) Tries() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tries
}

// Headers returns the headers of the requests that came.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Raw returns every byte that came, unpacked.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.raw)
}

// Spans returns the spans whose names begin with name, in the order in which they began.
func (c *Collector) Spans(name string) (out []*Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if strings.HasPrefix(s.Name, name) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	return out
}

// Span returns the only span of a name.
func (c *Collector) Span(name string) *Span {
	c.t.Helper()
	all := c.Spans(name)
	if len(all) != 1 {
		c.t.Fatalf("%d spans %q, want one, among %q", len(all), name, c.names())
	}
	return all[0]
}

func (c *Collector) names() (out []string) {
	for _, s := range c.Spans("") {
		out = append(out, s.Name)
	}
	return out
}
