// Package newrelic is a strict stand-in for NerdGraph, the GraphQL API of New Relic, for tests and for trying things without an account.
//
// Of GraphQL it accepts two queries: one carries any NRQL, the other asks for the stack of an error. NRQL is parsed:
// SELECT of *, attributes, count(*) and latest(), FROM one type of event, WHERE with =, LIKE, IN and AND, FACET, SINCE,
// UNTIL and LIMIT. Anything else is an error. The rows are in memory. The operation, for faults, is "nrql".
package newrelic

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/decantdev/decant/testing/standin"
)

// Query is the GraphQL that is accepted, whatever its white space.
const Query = `query($account: Int!, $nrql: Nrql!) { actor { account(id: $account) { name nrql(query: $nrql, timeout: 60) { results } } } }`

// Exception is the GraphQL for the stack of an error, by application and id of its ErrorTrace.
const Exception = `query($entity: EntityGuid!, $occurrence: String!) { actor { entity(guid: $entity) { ... on ApmApplicationEntity ` +
	`{ exception(occurrenceId: $occurrence) { message stackTrace { frames { filepath formatted line name } } } } } } }`

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
	opts  Options
	calls atomic.Int64
}

// New returns a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{opts: o}
}

// Calls returns how many calls have come.
func (s *Server) Calls() int { return int(s.calls.Load()) }

// A call is what a client sends.
type call struct {
	Query     string `json:"query"`
	Variables struct {
		Account json.Number `json:"account"`
		NRQL    *string     `json:"nrql"`

		Entity     string `json:"entity"`
		Occurrence string `json:"occurrence"`
	} `json:"variables"`
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
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil || c.Query == "" {
		fail(w, http.StatusBadRequest, "BAD_REQUEST", "The request body must be JSON with a query")
		return
	}
	if status, done := s.Strike(w, r, "nrql"); done {
		strike(w, status)
		return
	}
	if r.Header.Get("Api-Key") != s.opts.Key {
		strike(w, http.StatusUnauthorized)
		return
	}
	s.answer(w, c)
}

// answer carries out a query. Its errors have the status 200, as NerdGraph's have.
func (s *Server) answer(w http.ResponseWriter, c call) {
	account := strconv.Itoa(s.opts.Account)
	query := strings.Join(strings.Fields(c.Query), " ")
	if query == Exception {
		s.exception(w, c.Variables.Entity, c.Variables.Occurrence)
		return
	}
	switch {
	case query != Query:
		fail(w, http.StatusOK, "INVALID_QUERY", "This stand-in accepts two queries only: "+Query+"; "+Exception)
		return
	case c.Variables.NRQL == nil || c.Variables.Account == "":
		fail(w, http.StatusOK, "INVALID_QUERY", "Variables $account and $nrql are required")
		return
	case c.Variables.Account.String() != account:
		fail(w, http.StatusOK, "ACCESS_DENIED", "Access denied.")
		return
	}
	q, err := parseQuery(*c.Variables.NRQL, s.opts.Now())
	if err != nil {
		fail(w, http.StatusOK, "NRQL_SYNTAX_ERROR", err.Error())
		return
	}
	found := map[string]any{"name": "Account " + account, "nrql": map[string]any{"results": q.run(s.opts.Rows[q.from])}}
	write(w, http.StatusOK, map[string]any{"data": map[string]any{"actor": map[string]any{"account": found}}})
}

// exception answers with the stack of an error. What is not there is null.
func (s *Server) exception(w http.ResponseWriter, entity, occurrence string) {
	var found any
	for _, row := range s.opts.Rows[exceptions] {
		if row["entityGuid"] == entity && row["id"] == occurrence {
			found = map[string]any{"message": row["message"], "stackTrace": map[string]any{"frames": row["frames"]}}
		}
	}
	write(w, http.StatusOK, map[string]any{"data": map[string]any{"actor": map[string]any{"entity": map[string]any{"exception": found}}}})
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
