// Package transport puts the engine between a client and the provider of a model: it is an
// http.RoundTripper, so that it works below any SDK and inside a proxy alike. Which API a request is of, its dialect
// says, see package dialect.
//
// A batch passes as it came. Where a budget applies it is priced, money for it is held back before it leaves, it is
// booked, and settled when its results pass.
//
// A request for messages is read once, prepared by the engine and forwarded; a refusal for its size,
// or because of thinking that no longer fits, is answered by another form of the same request, which
// the client does not notice. Answers pass through as they come, byte for byte; a tee beside them reads
// what the model said and what it used. Everything else passes: other methods and paths untouched, and
// what cannot be understood as the client sent it. Headers that begin with x-decant- are for Decant and
// do not leave; credentials are passed on and are never looked at.
package transport

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/preset"
)

// Options configures a Transport. The zero value is ready to use.
type Options struct {
	// Base carries requests to the provider. Nil means http.DefaultTransport.
	Base http.RoundTripper

	// Tenant returns whose request it is. An error is answered with status 401. Nil means that all
	// requests are of the one user of the store.
	Tenant func(*http.Request) (string, error)

	// Budgets returns the budgets that a request falls under besides the engine's. Nil means none.
	Budgets func(*http.Request) []budget.Budget

	// Project is what the conversations are about, for those who look at them later.
	Project string

	// Presets returns the preset that a request names with x-decant-preset, or that the caller
	// chooses for it when the name is empty; nil means the engine's. model returns the model that
	// the request asks for; it has to look for it. Nil means Embedded.
	Presets func(name string, model func() string, r *http.Request) (*preset.Preset, error)

	// Route returns a request that is managed, or a copy of it that goes to another server: model returns the model
	// that it asks for, and whether its body can be read. An error says why the request may go nowhere; it is
	// answered with status 400, or 413 where the body is too large to be read. Nil means that all go where they say.
	Route func(r *http.Request, model func() (string, bool)) (*http.Request, error)

	// Done is told of every managed request when its answer has ended, or broken off, with what was
	// prepared for it last. Nil means that nobody is.
	Done func(r *http.Request, p *engine.Prepared, res engine.Response)

	// Watch returns who is told how the work on a managed request goes on, nil for nobody. Nil means that nobody
	// ever is.
	Watch func(*http.Request) Watcher

	// Guarded reports whether a request comes from others than those who run the engine: then x-decant-mode may
	// not make it do less than its options say. Where budgets apply it never may. Nil means that none does.
	Guarded func(*http.Request) bool

	// MaxBody is the largest body that is managed, in bytes, packed or not. A larger one passes as it comes,
	// unless a budget applies. Zero means 128 MB: more than the API takes, because what is sent of a long
	// history is much less.
	MaxBody int64

	// Memory is how many bytes of bodies are held at once, of all requests and answers together. Bodies of more
	// than 4 MB have 48 MB of it until their answers begin. A request for which there is no room waits up to two
	// minutes and is then answered with status 503; an answer is not kept. Zero means 1 GB.
	Memory int64
}

// A Transport is a managed http.RoundTripper. It is safe for concurrent use.
type Transport struct {
	engine atomic.Pointer[engine.Engine]
	opts   Options
	space  *hold.Space
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a transport over an engine.
func New(e *engine.Engine, o Options) *Transport {
	if o.Base == nil {
		o.Base = http.DefaultTransport
	}
	if o.Tenant == nil {
		o.Tenant = func(*http.Request) (string, error) { return "", nil }
	}
	if o.Guarded == nil {
		o.Guarded = func(*http.Request) bool { return false }
	}
	if o.Budgets == nil {
		o.Budgets = func(*http.Request) []budget.Budget { return nil }
	}
	if o.Presets == nil {
		o.Presets = func(name string, _ func() string, _ *http.Request) (*preset.Preset, error) { return Embedded(name) }
	}
	if o.Route == nil {
		o.Route = func(r *http.Request, _ func() (string, bool)) (*http.Request, error) { return r, nil }
	}
	if o.Watch == nil {
		o.Watch = func(*http.Request) Watcher { return nil }
	}
	if o.Done == nil {
		o.Done = func(*http.Request, *engine.Prepared, engine.Response) {}
	}
	if o.MaxBody == 0 {
		o.MaxBody = 128 << 20
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	t := &Transport{opts: o, space: hold.New(o.Memory, mostBulk)}
	t.Use(e)
	return t
}

// Use has requests from now on managed by another engine, on another store, say. Those under way stay with the one
// that has prepared them.
func (t *Transport) Use(e *engine.Engine) { t.engine.Store(e) }

// Embedded returns a preset that is part of the program, nil for the empty name; files of the user's
// are not for clients to name.
func Embedded(name string) (*preset.Preset, error) {
	if name == "" {
		return nil, nil
	}
	if !slices.Contains(preset.Names(), name) {
		return nil, fmt.Errorf("x-decant-preset: no preset named %q: there are %s", name, strings.Join(preset.Names(), ", "))
	}
	return preset.Load(name)
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	d, door := find(r)
	if door.Kind != dialect.Prompt && t.budgeted(r) {
		if why := unmetered(r, d, door.Kind); why != "" {
			return refuseUnread(d, r, http.StatusForbidden, dialect.Forbidden, "decant: "+why), nil
		}
	}
	do := (*exchange).roundTrip
	switch {
	case door.Kind == dialect.BatchState, door.Kind == dialect.BatchResults:
		return t.follow(r, d, door)
	case door.Kind == dialect.Batch && t.budgeted(r):
		do = (*exchange).batch
	case door.Kind != dialect.Prompt && door.Kind != dialect.Count:
		return t.send(outgoing(r))
	}
	x := &exchange{
		t: t, engine: t.engine.Load(), in: r, out: r, dialect: d, door: door, share: t.space.Share(""),
		watcher: t.opts.Watch(r),
	}
	res, err := do(x)
	if err != nil {
		x.share.Release()
		return nil, err
	}
	x.hold(res)
	return res, nil
}

// find returns the dialect of a request and the door that it is at. Without a body it can ask for nothing that is
// managed.
func find(r *http.Request) (dialect.Dialect, dialect.Door) {
	d, door := index.Find(r)
	switch door.Kind {
	case dialect.Prompt, dialect.Count, dialect.Batch:
		if r.Body == nil {
			return d, dialect.Door{}
		}
	}
	return d, door
}

// prepare asks the engine. If that panics, which is a mistake in it, the request goes out as it came.
func (x *exchange) prepare(ctx context.Context, req *engine.Request) (p *engine.Prepared, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = &engine.Prepared{Body: req.Body, Fault: fmt.Errorf("prepare request: panic: %v", v)}, nil
		}
	}()
	return x.engine.Prepare(ctx, req)
}
