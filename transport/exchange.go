package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/sse"
)

// An exchange is one request for messages, or for their size, with its answers.
type exchange struct {
	t       *Transport
	engine  *engine.Engine // of the transport when the request came
	in      *http.Request
	out     *http.Request // where it goes, see Options.Route
	dialect dialect.Dialect
	door    dialect.Door
	watcher Watcher // may be nil
	share   *hold.Share
	sent    []byte // the body as the client sent it; of a large one what was read of it
	body    []byte // the same, without compression
	large   bool   // it is too large to be managed
	foreign error  // why it could not be unpacked
}

// roundTrip answers the request.
func (x *exchange) roundTrip() (*http.Response, error) {
	r := x.in
	tenant, err := x.t.opts.Tenant(r)
	if err != nil {
		return refuseUnread(x.dialect, r, http.StatusUnauthorized, dialect.Unauthenticated, err.Error()), nil
	}
	x.share.Tenant = tenant
	_, end := x.step(Reading)
	err = x.read()
	end()
	if errors.Is(err, hold.ErrFull) {
		return x.refuseFull(), nil
	} else if err != nil {
		return nil, err
	}
	if x.out, err = x.t.opts.Route(r, func() (string, bool) { return modelOf(x.body) }); err != nil {
		return x.refuseRouted(err), nil
	}
	if x.large || x.foreign != nil {
		return x.pass()
	}
	req, err := x.describe()
	if err != nil {
		return x.refuse(http.StatusBadRequest, dialect.Invalid, "decant: "+err.Error()), nil
	}
	req.Tenant, req.Budgets = tenant, x.t.opts.Budgets(r)
	room := planning(x.body, x.t.space.Limit())
	if !x.share.Plan(room) {
		return x.refuseFull(), nil
	}
	ctx, end := x.step(Preparing)
	p, err := x.prepare(ctx, req)
	end()
	if err != nil {
		return x.refusal(err), nil
	}
	x.prepared(p)
	x.share.Planned(room, p.Footprint())
	return x.forward(p)
}

// refusal returns the answer to a request that the engine has refused, or could not prepare.
func (x *exchange) refusal(err error) *http.Response {
	var over *budget.Error
	var unread *engine.UnmeteredError
	switch {
	case errors.As(err, &over):
		return x.refuse(http.StatusPaymentRequired, dialect.Unpaid, "decant: "+over.Error())
	case errors.As(err, &unread):
		if f, ok := x.dialect.(dialect.Follower); ok {
			if id, _ := f.Follows(x.body); id != "" {
				return x.refuseUnknown(f.Unknown(id))
			}
		}
		return x.refuse(http.StatusBadRequest, dialect.Invalid, "decant: "+unread.Error())
	}
	return x.fail("decant: " + err.Error())
}

// pass sends a request on that cannot be managed, as the client sent it, unless a budget applies.
func (x *exchange) pass() (*http.Response, error) {
	if x.door.Kind == dialect.Prompt && x.t.budgeted(x.in) {
		return x.refuseUnpacked(), nil
	}
	if x.large {
		res, err := x.t.send(x.passing())
		if err == nil {
			res.Header.Set(faultHeader, fmt.Sprintf("the body has more than %d bytes and passed unmanaged; raise body_limit", x.t.opts.MaxBody))
		}
		return res, err
	}
	return x.t.send(x.request(x.sent, nil))
}

// describe returns the request for the engine.
func (x *exchange) describe() (*engine.Request, error) {
	h := x.in.Header
	req := &engine.Request{
		Dialect: x.dialect, Session: sessionOf(h), Project: x.t.opts.Project, Body: x.body, Count: x.door.Kind == dialect.Count, Pauses: true,
		Mode: engine.Mode(h.Get("X-Decant-Mode")), Betas: x.betas(), Upstream: x.out.URL.Scheme + "://" + x.out.URL.Host + x.door.Base,
	}
	switch req.Mode {
	case "", engine.Manage, engine.Observe, engine.Off:
	default:
		return nil, fmt.Errorf("x-decant-mode: %q is not manage, observe or off", req.Mode)
	}
	if x.t.guarded(x.in) && x.engine.Weaker(req.Mode) {
		return nil, fmt.Errorf("x-decant-mode: %s is not for clients to choose where keys or budgets are configured; remove the header", req.Mode)
	}
	var err error
	req.Preset, err = x.t.opts.Presets(h.Get("X-Decant-Preset"), x.asked, x.in)
	return req, err
}

// asked returns the model that the body asks for, empty when it is no request.
func (x *exchange) asked() string {
	model, _ := modelOf(x.body)
	return model
}

// betas returns the betas that the client asks for.
func (x *exchange) betas() []string {
	if name := x.dialect.About().BetaHeader; name != "" {
		return namesIn(x.in.Header, name)
	}
	return nil
}

// namesIn returns the names in a list with commas, from all lines of a header.
func namesIn(h http.Header, header string) (out []string) {
	for _, line := range h.Values(header) {
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
		if !same(p.Body, x.body) {
			x.share.Add(int64(len(p.Body)))
		}
		res, err := x.t.send(x.request(p.Body, p.Betas))
		if err != nil {
			x.engine.Finish(p, engine.Response{}) // nothing came of it
			return nil, err
		}
		packed := plain(res)
		if next := x.recover(p, res); next != nil {
			p = next
			continue
		}
		switch next, err := goOn(x, p, res); {
		case err != nil:
			x.engine.Finish(p, engine.Response{})
			return x.refusal(err), nil
		case next != nil:
			p = next
			x.prepared(p)
			continue
		}
		x.label(res, p)
		if packed != nil {
			res.Header.Set(faultHeader, secret.OneLine(packed.Error()))
		}
		x.watch(res, p)
		return res, nil
	}
}

// maxRefusal is how much of a refusal is read to find out what it is about.
const maxRefusal = 1 << 20

// goOn returns what to send next where the answer to a request is a summary behind which the model has
// paused: no client sees that. It returns nil for any other answer, which then has nothing missing.
func goOn(x *exchange, p *engine.Prepared, res *http.Response) (*engine.Prepared, error) {
	if !p.Pauses() || res.StatusCode != http.StatusOK {
		return nil, nil
	}
	answer, paused := opening(x.dialect, res)
	if !paused {
		return nil, nil
	}
	res.Body.Close() // nobody reads it
	a := responseOf(&answer)
	a.Organization = res.Header.Get(x.dialect.About().OrganizationHeader)
	ctx, end := x.step(Recovering)
	defer end()
	return x.engine.Paused(ctx, p, a)
}

// recover returns another form of a request that was refused, be it in the stream of an answer. Otherwise it returns
// nil and leaves the response as it came.
func (x *exchange) recover(p *engine.Prepared, res *http.Response) *engine.Prepared {
	if !p.Recoverable() {
		return nil // the answer may pass from its first byte
	}
	var head bytes.Buffer
	var refusal []byte
	var err error
	switch res.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		_, err = io.Copy(&head, io.LimitReader(res.Body, maxRefusal))
		refusal = head.Bytes()
	case http.StatusOK:
		late, ok := x.dialect.(dialect.LateRefuser)
		if !ok || !streamed(res) {
			return nil
		}
		refusal, err = refusedLate(late, res.Body, &head)
	default:
		return nil
	}
	if refusal != nil && err == nil {
		ctx, end := x.step(Recovering)
		next, ok := x.engine.Recover(ctx, p, max(res.StatusCode, http.StatusBadRequest), refusal)
		end()
		if ok {
			res.Body.Close() // nobody reads it
			x.prepared(next)
			return next
		}
	}
	res.Body = &joined{Reader: io.MultiReader(&head, rest(res.Body, err)), Closer: res.Body}
	return nil
}

// refusedLate reads a stream as far as it takes to know whether the request is refused in it, and returns the refusal.
// What it has read is in head.
func refusedLate(d dialect.LateRefuser, body io.Reader, head *bytes.Buffer) (refusal []byte, err error) {
	known := false
	events := sse.Reader{Max: maxRefusal, Handle: func(name, data []byte) {
		if !known {
			refusal, known = d.RefusesLate(name, data)
		}
	}}
	err = readUntil(body, head, &events, func() bool { return known || head.Len() >= maxRefusal })
	if refusal != nil {
		err = nil // whatever comes behind it
	}
	return refusal, err
}

// request returns the request to send, with a body. The bytes that the client sent go out as they
// came, compressed or not.
func (x *exchange) request(body []byte, betas []string) *http.Request {
	out := outgoing(x.out)
	about := x.dialect.About()
	header := about.BetaHeader
	if same(body, x.body) {
		body = x.sent
	} else {
		out.Header.Del("Content-Encoding")
		if names := namesIn(out.Header, header); slices.Contains(names, about.HeldBeta) {
			rest := slices.DeleteFunc(names, func(name string) bool { return name == about.HeldBeta })
			out.Header.Del(header)
			if len(rest) > 0 {
				out.Header.Set(header, strings.Join(rest, ","))
			}
		}
	}
	out.Header.Set("Accept-Encoding", "identity") // so that usage can be read
	for _, b := range betas {
		if !slices.Contains(namesIn(out.Header, header), b) {
			out.Header.Add(header, b)
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

// same reports whether a and b are the same bytes in memory.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// label tells the client which conversation it was, and what of Decant's own failed.
func (x *exchange) label(res *http.Response, p *engine.Prepared) {
	if p.Conversation != "" {
		res.Header.Set("X-Decant-Conversation", p.Conversation)
	}
	if p.Fault != nil {
		res.Header.Set(faultHeader, secret.OneLine(p.Fault.Error()))
	}
	if cp := p.Report.Poor(); cp != nil {
		res.Header.Set(recordHeader, fmt.Sprintf("poor; checkpoint=%d; score=%.2f", cp.Number, cp.Score))
	}
}

// watch puts a tee into an answer, which tells the engine what it was.
func (x *exchange) watch(res *http.Response, p *engine.Prepared) {
	done := func(a engine.Response) {
		_, end := x.step(Finishing)
		x.engine.Finish(p, a)
		end()
		x.t.opts.Done(x.in, p, a)
	}
	if res.StatusCode != http.StatusOK {
		done(engine.Response{Status: res.StatusCode})
		return
	}
	res.Body = newTee(res, x.dialect, x.share, done)
}

// hold keeps the exchange's share until the client has done with the answer.
func (x *exchange) hold(res *http.Response) {
	if res.StatusCode == http.StatusSwitchingProtocols { // its body is a connection, and must stay one
		x.share.Release()
		return
	}
	x.share.Rest()
	res.Body = &holding{res.Body, x.share}
}

// holding is a body with which a share is released.
type holding struct {
	io.ReadCloser
	share *hold.Share
}

// Close closes the body.
func (h *holding) Close() error {
	defer h.share.Release()
	return h.ReadCloser.Close()
}
