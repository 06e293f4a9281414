package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/tracing"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/transport"
)

// doorOther is how metrics have doors without a name of their own.
const doorOther = "other"

// A visit is what is known about one request while it is in the gateway. Only one goroutine at a time
// uses it.
type visit struct {
	id     string // in the answer and in the log
	api    dialect.API
	door   dialect.Door
	client *http.Request // as it came
	target *Route        // where it goes; nil until its model decides
	astray bool          // it has nowhere to go
	tenant string
	pass   *keyring.Pass // nil: no keys, or none that fits
	status int

	begin    time.Time
	sent     time.Time // when it was sent to the upstream for the first time
	first    time.Time // first byte of the answer's body to the client
	tries    int       // requests to the upstream
	received int64     // bytes of the client's body, -1 if unknown
	out      int64     // bytes of the body that was sent last
	in       int64     // bytes of the answer's body

	body     *front.Body      // nil: the request has none
	prepared *engine.Prepared // nil: nothing was managed
	usage    decant.Usage
	failure  error
	refused  string // why it may not pass
	upstream string // the provider's own id of the request
	preset   string // that was chosen for the request, empty when none was
	whole    bool   // the client got all of the answer
	trace    *tracing.Request
}

// requestHeader holds the id by which the log names the request.
const requestHeader = "X-Decant-Request"

// requestID returns an id for one request. It tells requests apart and is not a secret.
func requestID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

type visitKey struct{}

func with(ctx context.Context, v *visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// of returns the visit of a context. Without one it returns a new visit, so that callers which only count need no
// check; for the tenant this would be wrong, see tenantOf.
func of(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{api: index.Default}
}

// errNoVisit means that a request has bypassed the door, where its key is checked.
var errNoVisit = errors.New("decant: the request has not been admitted")

// tenantOf returns the tenant that the door has found. It fails for a request that the door has not seen, because the
// empty name is a tenant too and must not be the answer.
func tenantOf(r *http.Request) (string, error) {
	v, ok := r.Context().Value(visitKey{}).(*visit)
	if !ok {
		return "", errNoVisit
	}
	return v.tenant, nil
}

// done returns a function that records how a managed request was answered, and tells of what was accepted.
// An account of the client's is for the API by which it is known.
func done(o *Options) func(*http.Request, *engine.Prepared, engine.Response) {
	return func(r *http.Request, p *engine.Prepared, res engine.Response) {
		v := of(r.Context())
		v.prepared, v.usage = p, p.Billed(res)
		own := v.target != nil && v.target.Key == "" && v.target.Model == "" && v.api == index.Default
		if res.Status == http.StatusOK && o.Accepted != nil && own {
			o.Accepted(store.Key{Tenant: v.tenant, ID: p.Conversation}, v.target.URL.String(), r.Header)
		}
	}
}

// witness records when requests leave for the upstream, and how large they are.
type witness struct {
	base http.RoundTripper
	now  func() time.Time
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	v := of(r.Context())
	if v.tries == 0 {
		v.sent = w.now()
	}
	v.tries++
	v.out = r.ContentLength
	res, err := w.base.RoundTrip(v.trace.Send(r))
	v.trace.Answered(res, err)
	return res, err
}

// watched is a response that records what passes.
type watched struct {
	http.ResponseWriter
	visit *visit
	now   func() time.Time
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(status int) {
	if status >= 200 {
		w.visit.status, w.visit.refused = status, w.Header().Get(refusedHeader)
		w.visit.upstream = w.Header().Get(w.visit.api.About().RequestHeader)
		w.Header().Set(requestHeader, w.visit.id) // not earlier: informational answers would carry it too
	} else { // an informational answer of the upstream
		transport.RemoveOurs(w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *watched) Write(p []byte) (int, error) {
	if w.visit.first.IsZero() {
		w.visit.first = w.now()
	}
	n, err := w.ResponseWriter.Write(p)
	w.visit.in += int64(n)
	return n, err
}

var _ io.Writer = (*watched)(nil)

// finish records a visit in metrics and log.
func (g *Gateway) finish(v *visit, r *http.Request) {
	now := g.opts.Now()
	v.received = r.ContentLength
	if v.pass != nil {
		v.pass.Used(v.used())
	}
	g.metrics.add(v, now)
	if v.trace != nil {
		v.trace.End(g.end(v, r))
	}
	level := slog.LevelInfo
	if v.failure != nil && v.status != statusLeft || v.fault() != nil || v.refused != "" {
		level = slog.LevelWarn
	}
	if v.refused == noSocket || v.astray && !g.mayWarn(now) {
		level = slog.LevelInfo // clients try a socket first, and go on without
	}
	if !g.opts.Logger.Enabled(r.Context(), level) {
		return
	}
	g.opts.Logger.LogAttrs(r.Context(), level, "request", v.attrs(r, now)...)
}

// fault returns what of Decant's own failed.
func (v *visit) fault() error {
	if v.prepared == nil {
		return nil
	}
	return v.prepared.Fault
}

// attrs describes a visit without its content. It leaves out the query, because clients have put keys
// there.
func (v *visit) attrs(r *http.Request, now time.Time) []slog.Attr {
	as := []slog.Attr{
		slog.String("request", v.id), slog.String("method", r.Method), slog.String("path", clipped(r.URL.Path)), slog.Int("status", v.status),
		milliseconds("took_ms", now.Sub(v.begin)), slog.Int64("bytes_in", v.received), slog.Int64("bytes_sent", v.out), slog.Int64("bytes_back", v.in),
	}
	if v.tenant != "" {
		as = append(as, slog.String("tenant", v.tenant))
	}
	if v.pass != nil && v.pass.Key != "" {
		as = append(as, slog.String("key", v.pass.Key))
	}
	if id, span := v.trace.IDs(); id != "" {
		as = append(as, slog.String("trace_id", id), slog.String("span_id", span))
	}
	if !v.sent.IsZero() {
		as = append(as, milliseconds("held_ms", v.sent.Sub(v.begin)))
	}
	if v.tries > 1 {
		as = append(as, slog.Int("tries", v.tries))
	}
	if v.upstream != "" {
		as = append(as, slog.String("upstream_request", clipped(v.upstream)))
	}
	if v.prepared != nil {
		as = append(as, managed(v.prepared, v.usage)...)
	}
	if v.failure != nil {
		as = append(as, slog.String("failure", secret.OneLine(v.failure.Error())))
	}
	if v.refused != "" {
		as = append(as, slog.String("refused", secret.OneLine(v.refused)))
	}
	return as
}

// milliseconds returns a time for the log: a number with its unit in the name, to the microsecond.
func milliseconds(name string, d time.Duration) slog.Attr {
	return slog.Float64(name, float64(d.Microseconds())/1000)
}

// managed describes what the engine did.
func managed(p *engine.Prepared, u decant.Usage) []slog.Attr {
	as := []slog.Attr{
		slog.String("conversation", p.Conversation), slog.Int("messages", p.Report.Messages), slog.Int("tokens", p.Report.After),
		slog.Int("decisions", len(p.Report.Decisions)), slog.Int("usage_prompt", u.Prompt()), slog.Int("usage_output", u.Output),
	}
	if p.Report.LeftOut > 0 {
		as = append(as, slog.Int("left_out", p.Report.LeftOut), slog.Int("freed", p.Report.Freed))
	}
	if x := p.Report.Planned; x != nil {
		as = append(as, slog.Int("tokens_planned", x.Tokens))
		if x.Reason != "" {
			as = append(as, slog.String("planned", string(x.Reason)), slog.String("route", x.Route))
		}
	}
	if p.Report.Reason != "" {
		as = append(as, slog.String("pour", string(p.Report.Reason)), slog.String("route", p.Report.Route), slog.Int("tokens_before", p.Report.Before))
	}
	if len(p.Betas) > 0 {
		as = append(as, slog.Any("betas", p.Betas))
	}
	if p.Fault != nil {
		as = append(as, slog.String("fault", secret.OneLine(p.Fault.Error())))
	}
	return as
}

// clipped returns a path as it goes into a log.
func clipped(path string) string { return secret.OneLine(path[:min(len(path), 120)]) }
