package transport

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// Headers that begin with ours are for Decant, or from it. None goes to the provider, and none of the provider's
// counts as ours.
const ours = "x-decant-"

// outgoing returns a copy of r without the headers that are for Decant.
func outgoing(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	RemoveOurs(out.Header)
	return out
}

// RemoveOurs removes the headers that begin with x-decant-.
func RemoveOurs(h http.Header) {
	for name := range h {
		if len(name) >= len(ours) && strings.EqualFold(name[:len(ours)], ours) {
			delete(h, name)
		}
	}
}

// send sends a request to the provider, and returns the answer without headers that look like ours.
func (t *Transport) send(r *http.Request) (*http.Response, error) {
	res, err := t.opts.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	RemoveOurs(res.Header)
	RemoveOurs(res.Trailer)
	if res.StatusCode != http.StatusSwitchingProtocols { // a connection has no trailers
		res.Body = &trailed{res.Body, res}
	}
	return res, nil
}

// trailed is a body that trailers may follow.
type trailed struct {
	io.ReadCloser
	res *http.Response
}

// Read reads from the body.
func (t *trailed) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		RemoveOurs(t.res.Trailer)
	}
	return n, err
}
