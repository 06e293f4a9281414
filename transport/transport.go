// Package transport puts the engine between a client of the Messages API and the provider: it is an
// http.RoundTripper, so that it works below any SDK and inside a proxy alike.
//
// A request for messages is read once, prepared by the engine and forwarded; a refusal for its size,
// or because of thinking that no longer fits, is answered by another form of the same request, which
// the client does not notice. Answers pass through as they come, byte for byte; a tee beside them reads
// what the model said and what it used. Everything else passes: other methods and paths untouched, and
// what cannot be understood as the client sent it. Headers that begin with x-decant- are for Decant and
// do not leave; credentials are passed on and are never looked at.
package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/decantdev/decant/engine"
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
	Budgets func(*http.Request) []engine.Budget

	// Project is what the conversations are about, for those who look at them later.
	Project string

	// Presets returns the preset that a request names with x-decant-preset, or that the caller
	// chooses for it when the name is empty; nil means the engine's. model returns the model that
	// the request asks for; it has to look for it. Nil means Embedded.
	Presets func(name string, model func() string, r *http.Request) (*preset.Preset, error)

	// Done is told of every managed request when its answer has ended, or broken off, with what was
	// prepared for it last. Nil means that nobody is.
	Done func(r *http.Request, p *engine.Prepared, res engine.Response)

	// MaxBody is the largest request body that is read, in bytes. Zero means 256 MB.
	MaxBody int64
}

// A Transport is a managed http.RoundTripper. It is safe for concurrent use.
type Transport struct {
	engine *engine.Engine
	opts   Options
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
	if o.Budgets == nil {
		o.Budgets = func(*http.Request) []engine.Budget { return nil }
	}
	if o.Presets == nil {
		o.Presets = func(name string, _ func() string, _ *http.Request) (*preset.Preset, error) { return Embedded(name) }
	}
	if o.Done == nil {
		o.Done = func(*http.Request, *engine.Prepared, engine.Response) {}
	}
	if o.MaxBody == 0 {
		o.MaxBody = 256 << 20
	}
	return &Transport{engine: e, opts: o}
}

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
	kind := kindOf(r)
	if kind == other {
		return t.opts.Base.RoundTrip(outgoing(r))
	}
	x := &exchange{t: t, in: r}
	if err := x.read(); err != nil {
		return nil, err
	}
	if x.foreign {
		return t.opts.Base.RoundTrip(x.request(x.sent, nil))
	}
	req, err := x.describe(kind)
	if err != nil {
		return refuse(r, http.StatusBadRequest, "invalid_request_error", "decant: "+err.Error()), nil
	}
	if req.Tenant, err = t.opts.Tenant(r); err != nil {
		return refuse(r, http.StatusUnauthorized, "authentication_error", err.Error()), nil
	}
	req.Budgets = t.opts.Budgets(r)
	p, err := t.prepare(r.Context(), req)
	if over := (*engine.BudgetError)(nil); errors.As(err, &over) {
		return refuse(r, http.StatusPaymentRequired, "billing_error", "decant: "+over.Error()), nil
	}
	if err != nil {
		return fail(r, "decant: "+err.Error()), nil
	}
	return x.forward(p)
}

// prepare asks the engine. If that panics, which is a mistake in it, the request goes out as it came.
func (t *Transport) prepare(ctx context.Context, req *engine.Request) (p *engine.Prepared, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = &engine.Prepared{Body: req.Body, Fault: fmt.Errorf("prepare request: panic: %v", v)}, nil
		}
	}()
	return t.engine.Prepare(ctx, req)
}

// kind is what a request is for.
type kind uint8

const (
	other kind = iota
	messages
	count
)

func kindOf(r *http.Request) kind {
	switch {
	case r.Method != http.MethodPost || r.Body == nil:
		return other
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		return messages
	case strings.HasSuffix(r.URL.Path, "/v1/messages/count_tokens"):
		return count
	}
	return other
}

// An exchange is one managed request with its answers.
type exchange struct {
	t       *Transport
	in      *http.Request
	sent    []byte // the body as the client sent it
	body    []byte // the same, without compression
	foreign bool   // it is compressed in a way that is not known
}

// read takes the request's body.
func (x *exchange) read() error {
	body, err := readBody(x.in.Body, x.in.ContentLength, x.t.opts.MaxBody)
	err = errors.Join(err, x.in.Body.Close())
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	x.sent = body
	if x.body, err = decompress(body, x.in.Header.Get("Content-Encoding"), x.t.opts.MaxBody); err != nil {
		x.body, x.foreign = body, true // it is the provider's to judge
	}
	return nil
}

// maxTrust is how much room is made for a body because its length says so, before any of it is there.
const maxTrust = 32 << 20

// readBody reads a body of the given length, negative when it is not known. More than limit bytes
// are an *http.MaxBytesError.
func readBody(r io.Reader, length, limit int64) ([]byte, error) {
	r = io.LimitReader(r, limit+1)
	var b bytes.Buffer
	if length > 0 {
		b.Grow(int(min(length, limit, maxTrust)) + bytes.MinRead) // one allocation, and one read that finds the end
	}
	if length > maxTrust {
		if _, err := io.CopyN(&b, r, maxTrust); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		b.Grow(int(min(length, limit)-maxTrust) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(r); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	return b.Bytes(), nil
}

// describe returns the request for the engine.
func (x *exchange) describe(k kind) (*engine.Request, error) {
	h := x.in.Header
	req := &engine.Request{
		Session: namedSession(h), SessionIn: sessionIn, Project: x.t.opts.Project, Body: x.body, Count: k == count,
		Mode: engine.Mode(h.Get("X-Decant-Mode")), Betas: betasOf(h), Upstream: upstreamOf(x.in.URL),
	}
	switch req.Mode {
	case "", engine.Manage, engine.Observe, engine.Off:
	default:
		return nil, fmt.Errorf("x-decant-mode: %q is not manage, observe or off", req.Mode)
	}
	var err error
	req.Preset, err = x.t.opts.Presets(h.Get("X-Decant-Preset"), func() string { return modelOf(x.body) }, x.in)
	return req, err
}

// upstreamOf returns the base URL of the provider that a request for messages goes to.
func upstreamOf(u *url.URL) string {
	path, _, _ := strings.Cut(u.Path, "/v1/messages")
	return u.Scheme + "://" + u.Host + path
}

// betasOf returns the betas that a client asks for, from all lines of the header.
func betasOf(h http.Header) (out []string) {
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// forward sends a prepared request, and other forms of it as long as the provider refuses it for
// something that another form may not have.
func (x *exchange) forward(p *engine.Prepared) (*http.Response, error) {
	for {
		res, err := x.t.opts.Base.RoundTrip(x.request(p.Body, p.Betas))
		if err != nil {
			x.t.engine.Finish(p, engine.Response{}) // nothing came of it
			return nil, err
		}
		if res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusRequestEntityTooLarge {
			if next := x.recover(p, res); next != nil {
				p = next
				continue
			}
		}
		x.label(res, p)
		x.watch(res, p)
		return res, nil
	}
}

// maxRefusal is how much of a refusal is read to find out what it is about.
const maxRefusal = 1 << 20

// recover returns another form of a request that was refused. Otherwise it returns nil and leaves the
// response as it came.
func (x *exchange) recover(p *engine.Prepared, res *http.Response) *engine.Prepared {
	head, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err == nil {
		if next, ok := x.t.engine.Recover(x.in.Context(), p, res.StatusCode, head); ok {
			res.Body.Close() // nobody reads it
			return next
		}
	}
	res.Body = &joined{Reader: io.MultiReader(bytes.NewReader(head), res.Body), Closer: res.Body}
	return nil
}

// joined is a body of which something has been read already.
type joined struct {
	io.Reader
	io.Closer
}

// request returns the request to send, with a body. The bytes that the client sent go out as they
// came, compressed or not.
func (x *exchange) request(body []byte, betas []string) *http.Request {
	out := outgoing(x.in)
	if same(body, x.body) {
		body = x.sent
	} else {
		out.Header.Del("Content-Encoding")
	}
	out.Header.Set("Accept-Encoding", "identity") // so that usage can be read
	for _, b := range betas {
		if !asked(out.Header, b) {
			out.Header.Add("Anthropic-Beta", b)
		}
	}
	out.ContentLength = int64(len(body))
	out.TransferEncoding = nil
	if out.Header.Get("Content-Length") != "" {
		out.Header.Set("Content-Length", fmt.Sprint(len(body)))
	}
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody() // never fails
	return out
}

// asked reports whether a request asks for a beta by itself.
func asked(h http.Header, beta string) bool {
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(name) == beta {
				return true
			}
		}
	}
	return false
}

// same reports whether a and b are the same bytes in memory.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// outgoing returns a copy of r without the headers that are for Decant.
func outgoing(r *http.Request) *http.Request {
	out := r.Clone(r.Context())
	for name := range out.Header {
		if strings.HasPrefix(strings.ToLower(name), "x-decant-") {
			delete(out.Header, name)
		}
	}
	return out
}

// label tells the client which conversation it was, and what of Decant's own failed.
func (x *exchange) label(res *http.Response, p *engine.Prepared) {
	if p.Conversation != "" {
		res.Header.Set("X-Decant-Conversation", p.Conversation)
	}
	if p.Fault != nil {
		res.Header.Set(faultHeader, oneLine(p.Fault.Error()))
	}
	if cp := p.Report.Poor(); cp != nil {
		res.Header.Set(recordHeader, fmt.Sprintf("poor; checkpoint=%d; score=%.2f", cp.Number, cp.Score))
	}
}

// oneLine returns s as a header may hold it.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, s)
	return s[:min(len(s), 300)]
}

// watch puts a tee into an answer, which tells the engine what it was.
func (x *exchange) watch(res *http.Response, p *engine.Prepared) {
	done := func(a engine.Response) {
		x.t.engine.Finish(p, a)
		x.t.opts.Done(x.in, p, a)
	}
	if res.StatusCode != http.StatusOK {
		done(engine.Response{Status: res.StatusCode})
		return
	}
	res.Body = newTee(res, done)
}
