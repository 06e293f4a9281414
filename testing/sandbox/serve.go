package sandbox

import (
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxBody is the largest body of a request, in bytes (docs/reference/anthropic.md, "Endpoints and headers").
const maxBody = 32 << 20

// An exchange is one request on its way through the server.
type exchange struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	account string // identifies the caller, without holding the key
	version string // of the API, as the request names it
	betas   betas
	openAI  bool // it came in by a door of OpenAI's APIs
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
		if x.s.opts.Logged != nil {
			x.s.opts.Logged(x.entry)
		}
	}
}

func (x *exchange) route() *apiError {
	path := x.r.URL.Path
	if path == "/" && x.r.Method == http.MethodHead {
		return x.send(http.StatusOK, nil)
	}
	models := strings.HasPrefix(path, modelsPath) && x.r.Header.Get("Anthropic-Version") == "" && x.r.Header.Get("X-Api-Key") == ""
	if x.openAI = models || path == chatPath || path == responsesPath || strings.HasPrefix(path, responsesPath+"/"); x.openAI {
		return x.routeOpenAI(path)
	}
	if err := x.identify(); err != nil {
		return err
	}
	one, isModel := strings.CutPrefix(path, modelsPath+"/")
	batch, isBatch := strings.CutPrefix(path, batchesPath+"/")
	switch {
	case path == "/v1/messages":
		return x.only(http.MethodPost, x.messages)
	case path == "/v1/messages/count_tokens":
		return x.only(http.MethodPost, x.countTokens)
	case path == batchesPath && x.r.Method == http.MethodGet:
		return x.listBatches()
	case path == batchesPath:
		return x.only(http.MethodPost, x.createBatch)
	case isBatch:
		return x.oneBatch(batch)
	case path == modelsPath:
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

// identify checks the headers that every call needs (docs/reference/anthropic.md, "Endpoints and headers").
func (x *exchange) identify() *apiError {
	key := x.r.Header.Get("X-Api-Key")
	if token, ok := strings.CutPrefix(x.r.Header.Get("Authorization"), "Bearer "); ok && key == "" {
		key = token
	}
	if key == "" {
		return &apiError{status: http.StatusUnauthorized, kind: kindAuth, message: "x-api-key header is required"}
	}
	if len(x.s.opts.Keys) > 0 && !slices.Contains(x.s.opts.Keys, key) {
		return &apiError{status: http.StatusUnauthorized, kind: kindAuth, message: "invalid x-api-key"}
	}
	sum := sha256.Sum256([]byte(key))
	x.account = string(sum[:16])
	switch x.version = x.r.Header.Get("Anthropic-Version"); x.version {
	case versionFirst, versionNext:
	case "":
		return invalid("anthropic-version: header is required")
	default:
		return invalid("anthropic-version: \"%s\" is not a valid version", x.version)
	}
	var err *apiError
	x.betas, err = readBetas(x.r.Header, x.s.opts.Betas)
	return err
}

// request reads the body as a request for messages.
func (x *exchange) request(count bool) (*request, *apiError) {
	root, err := x.readJSON(maxBody)
	if err != nil {
		return nil, err
	}
	return x.check(root, count)
}

const modelsPath = "/v1/models"

// readJSON reads the body.
func (x *exchange) readJSON(limit int) (*node, *apiError) {
	body, err := x.readBody(limit)
	if err != nil {
		return nil, err
	}
	x.entry.Body = body
	root, perr := parse(body)
	if perr != nil {
		return nil, invalid("The request body is not valid JSON: %v", perr)
	}
	return root, nil
}

// check checks everything about a request that does not depend on the server's state.
func (x *exchange) check(root *node, count bool) (*request, *apiError) {
	q, err := decode(root, x.betas, count)
	if err != nil {
		return nil, err
	}
	if err := q.checkVersion(x.version); err != nil {
		return nil, err
	}
	if q.model, err = x.s.lookup(root.str("model")); err != nil {
		return nil, err
	}
	if x.betas.has(betaMillion) && olderMillion(q.model) && x.s.opts.Window == 0 {
		q.model.Window = 1_000_000
	}
	for _, check := range []func() *apiError{q.checkParams, q.checkMessages, q.checkMarkers} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	q.cut()
	return q, nil
}

// readBody reads and unpacks the body. Its limit holds for both forms.
func (x *exchange) readBody(limit int) ([]byte, *apiError) {
	if t, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, invalid("content-type: must be application/json")
	}
	var src io.Reader = &capped{x.r.Body, limit}
	switch enc := x.r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, bodyError(err)
		}
		src = &capped{z, limit}
	case "zstd":
		z, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, bodyError(err)
		}
		defer z.Close()
		src = &capped{z, limit}
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

// Read fails when more than the limit has come.
func (c *capped) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= n; c.left < 0 {
		return 0, errTooLarge
	}
	return n, err
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
	if x.openAI {
		x.send(err.chatStatus(), err.chatBody())
		return
	}
	x.send(err.status, err.body(x.requestID()))
}
