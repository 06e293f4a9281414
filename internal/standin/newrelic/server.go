// Package newrelic is a strict stand-in for NerdGraph, the GraphQL API of New Relic, for tests and for trying things without an account.
//
// Queries are validated against a schema (schema.graphql) and NRQL is read by a parser: what neither knows is an error. The NRQL is SELECT of
// *, attributes, count(*) and latest(), FROM one type of event, WHERE with =, LIKE, IN and AND, FACET, SINCE, UNTIL and LIMIT. What is asked
// for lies in memory. Operations, for faults, are "nrql" and "graphql", which is any other query.
package newrelic

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/internal/standin"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

//go:embed schema.graphql
var schemaText string

// A Row is one event of NRDB: flat, its time as "timestamp" in milliseconds since 1970.
type Row = map[string]any

// Options say what a server holds.
type Options struct {
	Key     string           // the only user key that is let in
	Account int              // the only account that its user sees
	Rows    map[string][]Row // by type, such as "TransactionError"
	Now     func() time.Time // nil: time.Now
}

// A Server is the stand-in, an http.Handler for the base address of NerdGraph.
type Server struct {
	standin.Faults
	opts   Options
	schema *ast.Schema
	calls  atomic.Int64
}

// New returns a server.
func New(o Options) (*Server, error) {
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{opts: o, schema: schema}, nil
}

// Calls returns how many calls have come.
func (s *Server) Calls() int { return int(s.calls.Load()) }

// A call is what a client sends.
type call struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
	Operation string         `json:"operationName"`
}

// mostCall is how many bytes a call may have.
const mostCall = 1 << 20

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case r.URL.Path != "/graphql":
		fail(w, http.StatusNotFound, "", "Not found")
		return
	case r.Method != http.MethodPost:
		fail(w, http.StatusMethodNotAllowed, "", "Method not allowed")
		return
	case r.Header.Get("Api-Key") == "":
		fail(w, http.StatusUnauthorized, "", "Api-Key header required")
		return
	case kind != "application/json":
		fail(w, http.StatusUnsupportedMediaType, "", "Content-Type must be application/json")
		return
	}
	var c call
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostCall))
	d.UseNumber()
	if err := d.Decode(&c); err != nil || c.Query == "" {
		fail(w, http.StatusBadRequest, "BAD_REQUEST", "The request body must be JSON with a query")
		return
	}
	operation := "graphql"
	if strings.Contains(c.Query, "nrql(") {
		operation = "nrql"
	}
	if status, done := s.Strike(w, r, operation); done {
		strike(w, status)
		return
	}
	if r.Header.Get("Api-Key") != s.opts.Key {
		strike(w, http.StatusUnauthorized)
		return
	}
	s.answer(w, c)
}

// answer validates and carries out a query. Its errors have the status 200, as NerdGraph's have.
func (s *Server) answer(w http.ResponseWriter, c call) {
	doc, errs := gqlparser.LoadQueryWithRules(s.schema, c.Query, rules.NewDefaultRules())
	if len(errs) > 0 {
		fail(w, http.StatusOK, "INVALID_QUERY", errs[0].Message)
		return
	}
	op := doc.Operations.ForName(c.Operation)
	if op == nil {
		fail(w, http.StatusOK, "INVALID_QUERY", "Must provide an operation")
		return
	}
	vars, err := validator.VariableValues(s.schema, op, c.Variables)
	if err != nil {
		fail(w, http.StatusOK, "INVALID_QUERY", err.Error())
		return
	}
	x := &execution{server: s, vars: vars}
	data := x.object(op.SelectionSet, x.root())
	out := map[string]any{"data": data}
	if len(x.errs) > 0 {
		out["errors"] = x.errs
	}
	write(w, http.StatusOK, out)
}

// strike answers with a status that a fault has, or a key that is none.
func strike(w http.ResponseWriter, status int) {
	switch status {
	case 0:
	case http.StatusUnauthorized:
		write(w, status, map[string]any{"errors": []any{map[string]any{"message": "Invalid API key", "extensions": map[string]any{"error_code": "BAD_API_KEY"}}}})
	case http.StatusTooManyRequests:
		fail(w, status, "TOO_MANY_REQUESTS", "Too many requests")
	case http.StatusForbidden:
		fail(w, status, "ACCESS_DENIED", "Access denied.")
	default:
		fail(w, status, "SERVER_ERROR", http.StatusText(status))
	}
}

// fail answers with one error.
func fail(w http.ResponseWriter, status int, class, message string) {
	e := map[string]any{"message": message}
	if class != "" {
		e["extensions"] = map[string]any{"errorClass": class}
	}
	write(w, status, map[string]any{"errors": []any{e}})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a client that has left sees nothing of it
}
