package github

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A call is one request that is being answered.
type call struct {
	s    *Server
	r    *http.Request
	repo *repo // nil where the path names none
	op   *operation
	path map[string]string
	body []byte

	header http.Header // of the answer
	lost   bool        // nobody gets the answer
}

// object is a JSON object that is made.
type object = map[string]any

// A raw is an answer that is no JSON.
type raw struct {
	kind string
	data []byte
}

// An apiError is a refusal in GitHub's form.
type apiError struct {
	status  int
	message string
	errors  []object
}

func (e *apiError) body() object {
	out := object{"message": e.message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(e.status)}
	if len(e.errors) > 0 {
		out["errors"] = e.errors
	}
	return out
}

func notFound() *apiError { return &apiError{status: http.StatusNotFound, message: "Not Found"} }

// invalid returns the refusal of a request that makes no sense.
func invalid(format string, args ...any) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, message: fmt.Sprintf(format, args...)}
}

// most is how many bytes a request may have.
const most = 8 << 20

// handle serves an operation of the description. do returns the status and what is sent: a raw, or a value that becomes JSON after what the
// description demands besides was added.
func (s *Server) handle(pattern, path string, do func(*call) (int, any, *apiError)) {
	method, _, _ := strings.Cut(pattern, " ")
	op := s.api.operation(method, path)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		c := &call{s: s, r: r, op: op, path: map[string]string{}, header: http.Header{}}
		for _, p := range op.Parameters {
			if p.In == "path" {
				c.path[p.Name] = r.PathValue(p.Name)
			}
		}
		status, v := c.answer(w, do)
		switch {
		case c.lost:
			drop(w)
		case status != 0:
			s.write(w, r, quotaOf(op.OperationID), status, v, c.header)
		}
	})
}

// answer does what a request asks for. Status 0: the connection is closed without an answer.
func (c *call) answer(w http.ResponseWriter, do func(*call) (int, any, *apiError)) (int, any) {
	op := c.op.OperationID
	c.s.count(op)
	if status, v, ok := c.s.fail(w, c, op); ok {
		return status, v
	}
	if err := c.admit(op); err != nil {
		return err.status, err.body()
	}
	if err := c.checkRequest(); err != nil {
		return err.status, err.body()
	}
	status, v, err := do(c)
	if err != nil {
		return err.status, err.body()
	}
	if _, ok := v.(raw); ok || v == nil {
		return status, v
	}
	v, bad := c.fitting(status, v)
	if bad != nil {
		return http.StatusInternalServerError, object{"message": "the stand-in's answer is not what the description says: " + bad.Error()}
	}
	return status, v
}

// admit lets a call in: its token, its limit, its repository.
func (c *call) admit(op string) *apiError {
	if token := bearer(c.r); c.s.opts.Token != "" && token != c.s.opts.Token {
		if token == "" && c.repoName() != "" {
			return notFound() // that is how GitHub says that a repository is not public
		}
		return &apiError{status: http.StatusUnauthorized, message: "Bad credentials"}
	}
	if !c.s.spend(quotaOf(op)) {
		return &apiError{status: http.StatusForbidden, message: "API rate limit exceeded for user ID 1."}
	}
	if name := c.repoName(); name != "" {
		if c.repo = c.s.repos[strings.ToLower(name)]; c.repo == nil {
			return notFound()
		}
	}
	data, err := io.ReadAll(io.LimitReader(c.r.Body, most+1))
	if err != nil || len(data) > most {
		return &apiError{status: http.StatusBadRequest, message: "Problems reading the request"}
	}
	if c.body = data; len(data) > 0 && !json.Valid(data) {
		return &apiError{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
	return nil
}

// repoName returns owner/name of the path; empty: it names no repository.
func (c *call) repoName() string {
	if c.path["owner"] == "" {
		return ""
	}
	return c.path["owner"] + "/" + c.path["repo"]
}

// bearer returns the token of a request.
func bearer(r *http.Request) string {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(kind, "bearer") || strings.EqualFold(kind, "token") {
		return token
	}
	return ""
}

// write sends an answer with the headers that GitHub puts on all of them.
func (s *Server) write(w http.ResponseWriter, r *http.Request, resource string, status int, v any, header http.Header) {
	h := w.Header()
	for k, vs := range header {
		h[k] = vs
	}
	s.rateHeaders(h, resource)
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("STAND:%d", s.Total()))
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	if out, ok := v.(raw); ok {
		h.Set("Content-Type", out.kind)
		w.WriteHeader(status)
		w.Write(out.data)
		return
	}
	if v == nil {
		w.WriteHeader(status)
		return
	}
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"message":"the answer is no JSON"}`)
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(data)
}

// page returns the part of a list that a call asks for, and names the other parts.
func page[T any](c *call, all []T) []T {
	q := c.r.URL.Query()
	size, number := number(q, "per_page", 30), number(q, "page", 1)
	size = min(max(size, 1), 100)
	from := min((max(number, 1)-1)*size, len(all))
	to := min(from+size, len(all))
	if to < len(all) {
		q.Set("page", strconv.Itoa(max(number, 1)+1))
		next := *c.r.URL
		next.RawQuery = q.Encode()
		c.header.Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, c.base(), next.RequestURI()))
	}
	return all[from:to]
}

// number returns a number of a query.
func number(q url.Values, name string, other int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return other
}

// base returns the address that the client has asked.
func (c *call) base() string {
	scheme := "http"
	if c.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + c.r.Host
}

// read reads the body of a request that was checked.
func read[T any](c *call) (v T, err *apiError) {
	if json.Unmarshal(c.body, &v) != nil {
		return v, invalid("Invalid request.")
	}
	return v, nil
}
