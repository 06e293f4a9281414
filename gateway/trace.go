package gateway

import (
	"net/http"

	"github.com/decantdev/decant/internal/tracing"
	"github.com/decantdev/decant/transport"
)

// watcherOf returns the watcher of a request, or nil.
func watcherOf(r *http.Request) transport.Watcher {
	if q := of(r.Context()).trace; q != nil {
		return q
	}
	return nil
}

// end describes the end of a request, for its span.
func (g *Gateway) end(v *visit, r *http.Request) tracing.End {
	e := tracing.End{
		Status: v.status, Received: v.received, Answered: v.in, Whole: v.whole, Left: !v.whole && r.Context().Err() != nil,
		Cut: !v.whole && g.service.Cut(), Refused: v.refused != "", Failed: v.failure != nil,
		Tenant: v.tenant, Preset: v.preset, Usage: v.usage,
	}
	if v.status == statusLeft { // the client got no status
		e.Status, e.Failed = 0, false
	}
	return e
}
