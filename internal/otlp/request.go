package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// encode returns spans as they are sent. What clients wrote into tracestate stays here: it is theirs, and the
// span's ids say all that a collector needs.
func encode(spans []*tracepb.ResourceSpans) ([]byte, error) {
	for s := range each(spans) {
		s.TraceState = ""
		for _, l := range s.Links {
			l.TraceState = ""
		}
	}
	// On the wire it is the same as the request of the service, whose package knows gRPC.
	plain, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return nil, fmt.Errorf("encode spans: %w", err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(plain) // to memory, which does not fail
	z.Close()
	return b.Bytes(), nil
}

// each returns the spans one by one.
func each(spans []*tracepb.ResourceSpans) func(yield func(*tracepb.Span) bool) {
	return func(yield func(*tracepb.Span) bool) {
		for _, r := range spans {
			for _, scope := range r.ScopeSpans {
				for _, s := range scope.Spans {
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

func count(spans []*tracepb.ResourceSpans) (n int) {
	for range each(spans) {
		n++
	}
	return n
}

// request returns a request with a body.
func (c *Client) request(ctx context.Context, body []byte) *http.Request {
	r := &http.Request{
		Method: http.MethodPost, URL: c.opts.Endpoint, Host: c.opts.Endpoint.Host, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, ContentLength: int64(len(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
	r.Body, _ = r.GetBody() // never fails
	maps.Copy(r.Header, c.opts.Header)
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "decant")
	return r.WithContext(ctx)
}
