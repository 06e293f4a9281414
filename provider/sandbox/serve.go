package sandbox

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/sse"
	"github.com/klauspost/compress/zstd"
)

// maxBody is the largest body of a request, in bytes (section 1).
const maxBody = 32 << 20

// An exchange is one request on its way through the server.
type exchange struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	account string // identifies the caller, without holding the key
	betas   betas
	entry   Entry
	logged  bool
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.n++
	n := s.n
	s.mu.Unlock()
	x := &exchange{s: s, w: w, r: r}
	x.entry = Entry{Number: n, Time: s.now(), Method: r.Method, Path: r.URL.RequestURI(), Header: redacted(r.Header)}
	w.Header().Set("request-id", x.requestID())
	w.Header().Set("anthropic-organization-id", "org_sandbox")
	if err := x.route(); err != nil {
		x.refuse(err)
	}
	x.log()
}

func (x *exchange) requestID() string { return fmt.Sprintf("req_sandbox_%06d", x.entry.Number) }

// log enters the exchange into the log, once.
func (x *exchange) log() {
	if !x.logged {
		x.logged = true
		x.s.Log.add(x.entry)
	}
}

func (x *exchange) route() *apiError {
	path := x.r.URL.Path
	if path == "/" && x.r.Method == http.MethodHead {
		return x.send(http.StatusOK, nil)
	}
	if err := x.identify(); err != nil {
		return err
	}
	one, isModel := strings.CutPrefix(path, "/v1/models/")
	switch {
	case path == "/v1/messages":
		return x.only(http.MethodPost, x.messages)
	case path == "/v1/messages/count_tokens":
		return x.only(http.MethodPost, x.countTokens)
	case path == "/v1/models":
		return x.only(http.MethodGet, x.listModels)
	case isModel && one != "":
		return x.only(http.MethodGet, func() *apiError { return x.oneModel(one) })
	}
	return &apiError{status: http.StatusNotFound, kind: kindNotFound, message: "Not found"}
}

func (x *exchange) only(method string, do func() *apiError) *apiError {
	if x.r.Method != method {
		x.w.Header().Set("Allow", method)
		return &apiError{status: http.StatusMethodNotAllowed, kind: kindInvalid, message: "Method Not Allowed"}
	}
	return do()
}

// identify checks the headers that every call needs (section 1).
func (x *exchange) identify() *apiError {
	key := x.r.Header.Get("X-Api-Key")
	if key == "" {
		key, _ = strings.CutPrefix(x.r.Header.Get("Authorization"), "Bearer ")
	}
	if key == "" {
		return &apiError{status: http.StatusUnauthorized, kind: kindAuth, message: "x-api-key header is required"}
	}
	if len(x.s.opts.Keys) > 0 && !slices.Contains(x.s.opts.Keys, key) {
		return &apiError{status: http.StatusUnauthorized, kind: kindAuth, message: "invalid x-api-key"}
	}
	sum := sha256.Sum256([]byte(key))
	x.account = string(sum[:16])
	switch v := x.r.Header.Get("Anthropic-Version"); v {
	case "2023-06-01", "2023-01-01":
	case "":
		return invalid("anthropic-version: header is required")
	default:
		return invalid("anthropic-version: \"%s\" is not a valid version", v)
	}
	var err *apiError
	x.betas, err = readBetas(x.r.Header, x.s.opts.Betas)
	return err
}

// request reads the body and checks everything that does not depend on the server's state.
func (x *exchange) request(count bool) (*request, *apiError) {
	body, err := x.readBody()
	if err != nil {
		return nil, err
	}
	x.entry.Body = body
	root, perr := parse(body)
	if perr != nil {
		return nil, invalid("The request body is not valid JSON: %v", perr)
	}
	q, err := decode(root, x.betas, count)
	if err != nil {
		return nil, err
	}
	var known bool
	if q.model, known = x.s.catalog.Lookup(root.str("model")); !known || q.model.Provider != "anthropic" {
		return nil, &apiError{status: http.StatusNotFound, kind: kindNotFound, message: "model: " + root.str("model")}
	}
	if x.s.opts.Window > 0 {
		q.model.Window = x.s.opts.Window
	}
	for _, check := range []func() *apiError{q.checkParams, q.checkMessages, q.checkMarkers} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// readBody reads and unpacks the body. Its limit holds for both forms.
func (x *exchange) readBody() ([]byte, *apiError) {
	if t, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, invalid("content-type: must be application/json")
	}
	var src io.Reader = &capped{x.r.Body, maxBody}
	switch enc := x.r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, bodyError(err)
		}
		src = &capped{z, maxBody}
	case "zstd":
		z, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, bodyError(err)
		}
		defer z.Close()
		src = &capped{z, maxBody}
	default:
		return nil, invalid("content-encoding: %s is not supported", enc)
	}
	body, err := io.ReadAll(src)
	if err != nil {
		return nil, bodyError(err)
	}
	return body, nil
}

var errTooLarge = errors.New("the body is too large")

// bodyError says what was wrong with a body that could not be read.
func bodyError(err error) *apiError {
	if errors.Is(err, errTooLarge) {
		return &apiError{status: http.StatusRequestEntityTooLarge, kind: kindTooLarge, message: "Request exceeds the maximum size"}
	}
	return invalid("The request body could not be read: %v", err)
}

// capped is a reader that fails with errTooLarge when more than left bytes come.
type capped struct {
	r    io.Reader
	left int
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= n; c.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// messages is POST /v1/messages.
func (x *exchange) messages() *apiError {
	f := x.nextFault()
	if err := f.refusal(); err != nil {
		return err
	}
	q, err := x.request(false)
	if err != nil {
		return err
	}
	th, ps, err := x.s.admit(x.account, q)
	if err != nil {
		return err
	}
	prompt := count(ps, x.s.counter)
	x.entry.Prompt, x.entry.Dropped = prompt, len(th.dropped)
	if err := x.s.checkSize(q, prompt); err != nil {
		return err
	}
	h := x.s.cache.look(x.account, q, ps, x.entry.Time)
	rep, err := x.s.answer(x.r.Context(), q, th, x.session(q), prompt, x.entry.Number)
	if err != nil {
		return err
	}
	output := rep.usage.Output
	rep.usage = h.usage
	rep.usage.Output = output
	x.s.memory.keep(x.account, rep.calls, rep.signed)
	x.entry.Usage, x.entry.Stop, x.entry.Answer = rep.usage, rep.stop, rep.message()
	return x.deliver(q, rep, h, f)
}

// nextFault returns the fault of this request and notes it.
func (x *exchange) nextFault() Fault {
	x.s.mu.Lock()
	x.s.asked++
	n := x.s.asked
	x.s.mu.Unlock()
	f := x.s.fault(n, x.r)
	x.entry.Fault = f.Kind
	return f
}

// admit checks what depends on the server's own memory and keys, and returns the prompt as the model reads it.
func (s *Server) admit(account string, q *request) (*thoughts, []piece, *apiError) {
	if err := s.checkOpenTurn(account, q); err != nil {
		return nil, nil, err
	}
	th, err := s.checkThoughts(q)
	if err != nil {
		return nil, nil, err
	}
	return th, q.pieces(th.dropped), nil
}

// checkSize is section 7.
func (s *Server) checkSize(q *request, prompt int) *apiError {
	if limit := s.opts.MaxText; limit > 0 {
		if n := q.textBytes(); n > limit {
			return invalid("too many total text bytes: %d > %d", n, limit)
		}
	}
	window := q.model.Window
	if prompt > window {
		return invalid("prompt is too long: %d tokens > %d maximum", prompt, window)
	}
	if old := !q.model.Since(4, 5) && !q.betas.has(betaExceeded); old && prompt+q.max > window {
		return invalid("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again", prompt, q.max, window)
	}
	return nil
}

// textBytes returns the size of all text in system and messages.
func (q *request) textBytes() int {
	n := 0
	for _, p := range q.pieces(nil) {
		n += len(p.str("text")) + len(p.get("content").textOf())
	}
	return n
}

func (n *node) textOf() string {
	out := ""
	for _, b := range n.blocks() {
		out += b.str("text")
	}
	return out
}

// session returns what tells one client's conversations from another's.
func (x *exchange) session(q *request) string {
	for _, name := range []string{"X-Claude-Code-Session-Id", "X-Session-Id"} {
		if id := x.r.Header.Get(name); id != "" {
			return id
		}
	}
	if user := q.body.get("metadata").str("user_id"); user != "" {
		return user
	}
	return x.account
}

// answer asks the model. Whatever goes wrong there is a 500.
func (s *Server) answer(ctx context.Context, q *request, th *thoughts, session string, prompt, n int) (rep *reply, err *apiError) {
	defer func() {
		if v := recover(); v != nil {
			err = internal("the scripted model panicked", fmt.Errorf("%v", v))
		}
	}()
	a := Answer{Stop: "max_tokens"}
	if q.max > 0 {
		var merr error
		if a, merr = s.model.Answer(ctx, q.prompt(session)); merr != nil {
			return nil, internal("the scripted model failed", merr)
		}
	}
	rep, cerr := s.compose(q, th, a, prompt, n)
	if cerr != nil {
		return nil, internal("compose the answer", cerr)
	}
	return rep, nil
}

// deliver sends a finished answer, and lets a fault break it on the way.
func (x *exchange) deliver(q *request, rep *reply, h hit, f Fault) *apiError {
	if f.After == 0 && f.Kind != FaultStreamError && f.Kind != FaultSlow && !x.s.strike(x.w, x.r, f, 0) {
		return nil
	}
	if !q.body.is("stream") {
		if f.Kind == FaultStreamError {
			f.Kind = FaultInternal // there is no stream to put it in
			return f.refusal()
		}
		if f.Kind == FaultSlow && !x.s.strike(x.w, x.r, f, 0) {
			return nil
		}
		x.s.cache.commit(h)
		return x.send(http.StatusOK, x.entry.Answer)
	}
	x.s.cache.commit(h)
	x.stream(rep, f)
	return nil
}

// stream sends an answer event by event. The log entry is complete before the last one.
func (x *exchange) stream(rep *reply, f Fault) {
	x.entry.Status = http.StatusOK
	x.w.Header().Set("Content-Type", sse.ContentType)
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	out := sse.NewWriter(x.w)
	fs := rep.frames(x.s.opts.Chunk)
	for i, fr := range fs {
		if f.Kind == FaultStreamError && i == f.After {
			x.log()
			over := apiError{kind: kindOverloaded, message: "Overloaded"}
			out.Event("error", over.body(x.requestID())) // the client may be gone; then nobody reads it
			return
		}
		if i == len(fs)-1 || f.breaks(i) {
			x.log()
		}
		if i > 0 || f.Kind == FaultSlow {
			if !x.s.strike(x.w, x.r, f, i) {
				return
			}
		}
		if out.Event(fr.name, fr.data) != nil {
			return // the client is gone
		}
	}
}

// countTokens is POST /v1/messages/count_tokens.
func (x *exchange) countTokens() *apiError {
	q, err := x.request(true)
	if err != nil {
		return err
	}
	_, ps, err := x.s.admit(x.account, q)
	if err != nil {
		return err
	}
	n := count(ps, x.s.counter)
	x.entry.Prompt = n
	b := strconv.AppendInt([]byte(`{"input_tokens":`), int64(n), 10)
	if q.body.get("context_management") != nil {
		b = strconv.AppendInt(append(b, `,"context_management":{"original_input_tokens":`...), int64(n), 10)
		b = append(b, '}')
	}
	return x.send(http.StatusOK, append(b, '}'))
}

// send answers with JSON.
func (x *exchange) send(status int, body []byte) *apiError {
	x.entry.Status = status
	x.log()
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	x.w.Write(body) // a client that is gone needs no answer
	return nil
}

// refuse answers with an error.
func (x *exchange) refuse(err *apiError) {
	x.entry.Error = err.message
	if err.retry > 0 {
		x.w.Header().Set("retry-after", retryAfter(err.retry))
	}
	if err.status == http.StatusRequestEntityTooLarge {
		x.w.Header().Set("Connection", "close")
	}
	x.send(err.status, err.body(x.requestID()))
}
