// Package gateway is the HTTP front of Decant: a reverse proxy that any agent in any language can use
// by changing one base URL.
//
// Requests for messages and for token counts go through the managed transport; everything else
// passes. In both directions path, query, method, status, headers and body arrive as they were sent,
// except for headers that begin with x-decant-, the accepted encodings of managed requests, and
// bodies that the engine changed. Streams pass as they come; when the client leaves, the upstream
// request ends. Upstreams are configured, clients choose among these only, and every connection of the
// process is checked against one list of allowed destinations, see [Outbound].
//
// Requests of OpenAI's APIs go to an upstream of their own, and never to that of the Messages API. One that has nowhere
// to go is refused in its own format, so that no client sends it again.
//
// When a step of Decant's own fails, the client's bytes are forwarded and the header x-decant-fault
// says what failed. The gateway itself answers requests that may not pass; the header x-decant-refused
// says why.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/keyring"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/tracing"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/transport"
)

// Options configures a Gateway. Engine and Upstream are required.
type Options struct {
	// Engine manages the conversations. The caller closes it after the gateway.
	Engine *engine.Engine

	// Upstream is the base URL of the Messages API; the path of a request is appended to its path.
	Upstream *url.URL

	// OpenAI is the base URL of OpenAI's APIs, with its version. Nil means that their requests are refused, unless a
	// route fits, be it by the model.
	OpenAI *url.URL

	// Routes send requests elsewhere. The first that fits decides.
	Routes []Route

	// Outbound carries requests to the upstreams. Nil means an Outbound that allows these only.
	Outbound http.RoundTripper

	// Keys admit tenants by the header x-decant-key. Nil means that all requests come from the one
	// local user.
	Keys *keyring.Ring

	// Rules choose the preset of a request that names none. The first rule that matches decides; if
	// none does, the engine's preset is used.
	Rules []Rule

	// Project says what the conversations are about, for reports and lists.
	Project string

	// Local says that only this machine reaches the gateway. Then requests must call it by a name of loopback, so
	// that no page in a browser can reach it by a name of its own.
	Local bool

	// Hosts are further names by which the gateway may be called. If there are any, all other names are refused.
	Hosts []string

	// MaxBody is the largest body of messages that is managed, Memory how many bytes of bodies are held at once;
	// see transport.Options.
	MaxBody, Memory int64

	// BodyTimeout is how long a client may take to send 16 KB of a body, or the rest of it. Zero means 30
	// seconds.
	BodyTimeout time.Duration

	// Ready reports whether requests can be managed, for /readyz: whether the database answers. The
	// upstream is not part of it, because every instance would fall out of service with it. Nil means
	// always ready.
	Ready func(context.Context) error

	// Logger gets a line for every request, without its content: at level Info, at Warn when something failed or was
	// refused. Nil means that nothing is logged.
	Logger *slog.Logger

	// Accepted is told of requests that the upstream has answered: of which conversation they are, the base URL of the
	// upstream, and the headers, which have the client's credential. It must not keep these. Nil means that nobody is.
	Accepted func(k store.Key, upstream string, h http.Header)

	// Tracing records in spans what is done with requests. Nil means that nothing is traced.
	Tracing *tracing.Tracing

	// Metrics is where the gateway registers its metrics, and what /metrics shows. Nil means a new
	// registry.
	Metrics *prometheus.Registry

	// MetricsToken is a bearer token that shows metrics. Without it everybody sees them, unless requests need
	// keys: metrics are sums over all tenants, and no tenant may see these.
	MetricsToken string

	// Version and Commit describe the build, for metrics.
	Version, Commit string

	// Now returns the current time. Nil means time.Now.
	Now func() time.Time
}

// A Gateway is an http.Handler in front of the APIs of models. It is safe for concurrent use.
type Gateway struct {
	opts     Options
	engine   atomic.Pointer[engine.Engine]
	managed  *transport.Transport
	hosts    hosts
	proxy    *httputil.ReverseProxy
	metrics  *metrics
	exporter http.Handler
	service  front.Service
	warned   atomic.Int64 // when the log last warned of a request that has nowhere to go, in nanoseconds
}

var _ http.Handler = (*Gateway)(nil)

// New returns a gateway.
func New(o Options) (*Gateway, error) {
	if o.Engine == nil || o.Upstream == nil {
		return nil, errors.New("gateway: no engine or no upstream")
	}
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	g := &Gateway{opts: o, hosts: hosts{o.Local || len(o.Hosts) > 0, o.Hosts}}
	g.engine.Store(o.Engine)
	g.service.Ready = o.Ready
	var err error
	if g.metrics, err = newMetrics(o.Metrics, &g.engine, o.Version, o.Commit); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	g.exporter = promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{})
	g.managed = transport.New(o.Engine, transport.Options{
		Base: &witness{base: o.Outbound, now: o.Now}, Tenant: tenantOf, Budgets: budgetsOf, Project: o.Project, Presets: chooser(o.Rules).note, Done: done(&o),
		Watch: watcherOf, Guarded: g.guarded, Route: g.route, MaxBody: o.MaxBody, Memory: o.Memory,
	})
	g.proxy = &httputil.ReverseProxy{
		Transport: g.managed, Rewrite: g.rewrite, ErrorHandler: g.refuseFailed,
		FlushInterval: -1, BufferPool: &buffers{}, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return g, nil
}

func (o *Options) setDefaults() (err error) {
	if o.Outbound == nil {
		if o.Outbound, err = modelhttp.NewOutbound(modelhttp.OutboundOptions{Allow: o.upstreams()}); err != nil {
			return err
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = front.BodyTime
	}
	return nil
}

// upstreams returns the base URLs of all upstreams.
func (o *Options) upstreams() []*url.URL {
	out := []*url.URL{o.Upstream}
	if o.OpenAI != nil {
		out = append(out, o.OpenAI)
	}
	for i := range o.Routes {
		out = append(out, o.Routes[i].URL)
	}
	return out
}

// Use makes another engine manage requests from now on; see transport.Transport.Use. The caller closes both engines.
func (g *Gateway) Use(e *engine.Engine) {
	g.engine.Store(e)
	g.managed.Use(e)
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = front.Timed(w, r, g.opts.BodyTimeout)
	switch no := g.hosts.strange(r); {
	case g.service.Health(w, r):
	case r.URL.Path != "/metrics":
		g.forward(w, r)
	case no != nil:
		no.answer(w, index.Default)
	default:
		g.show(w, r)
	}
}

// Serve answers requests on a listener until the context ends. Then it accepts no more and waits for
// requests under way, streams included, for at most drain. It cuts what is still open after that, and waits
// two more seconds for it to end. It returns nil when everything was answered.
func (g *Gateway) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	return g.service.Serve(ctx, l, g, g.opts.Logger, drain)
}

// forward sends a request on and its answer back.
func (g *Gateway) forward(w http.ResponseWriter, r *http.Request) {
	defer g.service.Enter()()
	v := &visit{id: requestID(), begin: g.opts.Now(), client: r}
	v.body, _ = r.Body.(*front.Body)
	v.api, v.door = index.Find(r)
	ctx := r.Context()
	ctx, v.trace = g.opts.Tracing.Begin(ctx, r, v.id, v.api, v.door)
	g.metrics.open.Inc()
	defer func() { // runs after a panic too: the proxy cuts a connection by panicking
		g.metrics.open.Dec()
		g.finish(v, r)
	}()
	w = &watched{ResponseWriter: w, visit: v, now: g.opts.Now}
	if !g.admit(w, r, v) {
		v.whole = true
		return
	}
	h := w.Header()
	h["Date"], h["Content-Type"] = nil, nil // only if the upstream sends them
	g.proxy.ServeHTTP(w, r.WithContext(with(ctx, v)))
	v.whole = true
}

// admit finds out whose request it is, and reports whether it may pass. If not, admit answers it.
func (g *Gateway) admit(w http.ResponseWriter, r *http.Request, v *visit) bool {
	if no := g.hosts.strange(r); no != nil {
		no.answer(w, v.api)
		return false
	}
	var err error
	switch v.target, err = g.target(r, v.api, nil); {
	case err == nil && wantsSocket(r) && responses(r):
		err = errors.New(noSocket)
	case err != nil && g.modelDecides(r, v.door):
		err = nil // route refuses it where no row has its model
	}
	if err != nil { // checked before the key, which would not help
		v.astray = true
		refuseRouted(w, r, v.api, err.Error())
		return false
	}
	if !g.identify(w, r, v) {
		return false
	}
	if no := unfit(r); no != nil {
		no.answer(w, v.api)
		return false
	}
	return true
}

// chooser chooses presets by rules.
type chooser []Rule

// note is choose, and records the choice in the request's visit.
func (c chooser) note(name string, model func() string, r *http.Request) (*preset.Preset, error) {
	p, err := c.choose(name, model, r)
	if p != nil {
		of(r.Context()).preset = p.Name
	}
	return p, err
}

// choose returns the preset that a request names, or the one that the rules choose for it; nil means
// the engine's.
func (c chooser) choose(name string, model func() string, r *http.Request) (*preset.Preset, error) {
	if name == "" {
		return c.byRule(model, r.Header.Get("User-Agent")), nil
	}
	for i := range c {
		if c[i].Preset.Name == name {
			return c[i].Preset, nil
		}
	}
	return transport.Embedded(name)
}

func (c chooser) byRule(model func() string, client string) *preset.Preset {
	for i := range c {
		if c[i].fits(model, client) {
			return c[i].Preset
		}
	}
	return nil
}
