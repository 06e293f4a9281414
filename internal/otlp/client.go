// Package otlp sends spans to a collector: OTLP over HTTP, as packed protobuf. The library's own client would do
// the same, but it brings gRPC along, and reads its destination from the environment.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Options configures a Client. Endpoint and Base are required.
type Options struct {
	// Endpoint is where spans are posted to, path included.
	Endpoint *url.URL

	// Header is sent with every request.
	Header http.Header

	// Base carries requests to the collector.
	Base http.RoundTripper

	// Pause is how long it waits before it tries again what the collector could not take, and twice as long
	// before every further try. Zero means a second.
	Pause time.Duration
}

// A Client carries spans to a collector. What the collector cannot take at the moment it sends again, until the
// context ends. It is safe for concurrent use.
type Client struct {
	opts   Options
	closed context.Context
	close  context.CancelFunc
	sent   atomic.Int64
}

var _ otlptrace.Client = (*Client)(nil)

// New returns a client. It connects to nobody before there is something to send.
func New(o Options) *Client {
	if o.Pause == 0 {
		o.Pause = time.Second
	}
	c := &Client{opts: o}
	c.closed, c.close = context.WithCancel(context.Background())
	return c
}

// Start does nothing: there is no connection to make.
func (c *Client) Start(context.Context) error { return nil }

// Stop ends what is under way; nothing is sent any longer.
func (c *Client) Stop(context.Context) error {
	c.close()
	return nil
}

// Sent returns how many spans collectors have taken.
func (c *Client) Sent() int64 { return c.sent.Load() }

// UploadTraces sends spans. An error means that some of them are lost.
func (c *Client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.closed, cancel)()
	if err := c.closed.Err(); err != nil { // the function above runs later, and a request could leave before it
		return err
	}
	body, err := encode(spans)
	if err != nil {
		return err
	}
	for pause := c.opts.Pause; ; pause *= 2 {
		rejected, err := c.post(ctx, body)
		if err == nil {
			c.sent.Add(int64(count(spans)) - rejected.spans)
			return rejected.error()
		}
		var later *laterError
		if !errors.As(err, &later) || !wait(ctx, max(pause, later.after)) {
			return err
		}
	}
}

// wait waits, and reports whether it could: not when the context would end before.
func wait(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// post sends a body once. A *laterError means that it may be sent again.
func (c *Client) post(ctx context.Context, body []byte) (rejection, error) {
	res, err := c.opts.Base.RoundTrip(c.request(ctx, body))
	if err != nil {
		return rejection{}, &laterError{err: fmt.Errorf("the collector gives no answer: %w", err)}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode/100 != 2:
		return rejection{}, refused(res)
	case err != nil:
		return rejection{}, &laterError{err: fmt.Errorf("read the collector's answer: %w", err)}
	}
	return readRejection(text), nil
}

// maxAnswer is how much of a collector's answer is read.
const maxAnswer = 64 << 10
