// Package sentry is a strict stand-in for the part of Sentry's REST API that tells of issues and their events, for tests and for trying things
// without an account.
//
// It lets in one token, which needs the right event:read, knows one organization, and gives lists by the page with a header Link. A
// parameter that it does not know, a project that is not there and too many calls are errors. Operations, for faults, are "issues" and "events".
package sentry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/testing/standin"
)

// An Issue is what Sentry has grouped.
type Issue struct {
	ID     string // a number
	Status string // "unresolved", "resolved" or "ignored"
	Events []source.Event
}

// Options say what a server holds.
type Options struct {
	Token        string   // the only one that is let in
	Scopes       []string // its rights; none: event:read
	Organization string
	Issues       []Issue
	Page         int              // elements of a page; 0: 100, the service's most
	PerSecond    int              // calls that are let in in a second; 0: any number
	Now          func() time.Time // nil: time.Now
}

// A Server is the stand-in, an http.Handler for the base address of Sentry.
type Server struct {
	standin.Faults
	opts Options
	mu   sync.Mutex
	now  int64 // the second that is counted
	used int   // calls in it
	all  int
}

// New returns a server.
func New(o Options) *Server {
	if o.Scopes == nil {
		o.Scopes = []string{"event:read"}
	}
	if o.Page <= 0 || o.Page > mostPage {
		o.Page = mostPage
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{opts: o}
}

const mostPage = 100

// Issues groups events as Sentry would do: by class, and the program's own innermost line.
func Issues(events []source.Event) []Issue {
	at, out := map[string]int{}, []Issue(nil)
	for _, e := range events {
		key := e.Service + "\x00" + e.Class
		if i := slices.IndexFunc(e.Frames, func(f source.Frame) bool { return f.InApp }); i >= 0 {
			key += "\x00" + e.Frames[i].File + e.Frames[i].Function
		} else if len(e.Frames) == 0 {
			key += "\x00" + e.Transaction + e.Message
		}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, Issue{ID: strconv.Itoa(1001 + i), Status: "unresolved"})
		}
		out[i].Events = append(out[i].Events, e)
	}
	return out
}

// calls returns how many calls have come.
func (s *Server) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

var (
	issuesPath = lazyregexp.New(`^/api/0/organizations/([^/]+)/issues/$`)
	eventsPath = lazyregexp.New(`^/api/0/organizations/([^/]+)/issues/(\d+)/events/$`)
)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, organization, id := "", "", ""
	if m := issuesPath.FindStringSubmatch(r.URL.Path); m != nil {
		operation, organization = "issues", m[1]
	} else if m := eventsPath.FindStringSubmatch(r.URL.Path); m != nil {
		operation, organization, id = "events", m[1], m[2]
	}
	if !s.admitted(w) {
		return
	}
	if status, done := s.Strike(w, r, operation); done {
		fail(w, status, texts[status])
		return
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case operation == "":
		fail(w, http.StatusNotFound, "The requested resource does not exist")
	case r.Method != http.MethodGet:
		fail(w, http.StatusMethodNotAllowed, fmt.Sprintf("Method %q not allowed.", r.Method))
	case !bearer:
		fail(w, http.StatusUnauthorized, "Authentication credentials were not provided.")
	case token != s.opts.Token:
		fail(w, http.StatusUnauthorized, "Invalid token")
	case organization != s.opts.Organization:
		fail(w, http.StatusNotFound, "The requested resource does not exist")
	case !slices.Contains(s.opts.Scopes, "event:read"):
		fail(w, http.StatusForbidden, texts[http.StatusForbidden])
	default:
		s.list(w, r, id)
	}
}

// list answers with a page of issues, or of the events of one.
func (s *Server) list(w http.ResponseWriter, r *http.Request, id string) {
	ask, err := s.read(r.URL.Query(), id != "")
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	var all []any
	if id == "" {
		all = s.issues(ask)
	} else {
		i := slices.IndexFunc(s.opts.Issues, func(i Issue) bool { return i.ID == id })
		if i < 0 {
			fail(w, http.StatusNotFound, "The requested resource does not exist")
			return
		}
		all = s.events(s.opts.Issues[i], ask)
	}
	from := min(ask.from, len(all))
	to := min(from+ask.limit, len(all))
	link(w, r.URL, from, ask.limit, to < len(all))
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(append([]any{}, all[from:to]...)) // a client that has left sees nothing of it
}

// link tells of the pages before and behind.
func link(w http.ResponseWriter, u *url.URL, from, limit int, more bool) {
	one := func(rel string, at int, results bool) string {
		q := u.Query()
		cursor := fmt.Sprintf("0:%d:0", at)
		q.Set("cursor", cursor)
		return fmt.Sprintf(`<https://sentry.invalid%s?%s>; rel=%q; results=%q; cursor=%q`, u.Path, q.Encode(), rel, strconv.FormatBool(results), cursor)
	}
	w.Header().Set("Link", one("previous", max(0, from-limit), from > 0)+", "+one("next", from+limit, more))
}

// admitted counts a call, and refuses it when too many have come in this second.
func (s *Server) admitted(w http.ResponseWriter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all++
	if s.opts.PerSecond == 0 {
		return true
	}
	if now := s.opts.Now().Unix(); now != s.now {
		s.now, s.used = now, 0
	}
	s.used++
	h := w.Header()
	h.Set("X-Sentry-Rate-Limit-Limit", strconv.Itoa(s.opts.PerSecond))
	h.Set("X-Sentry-Rate-Limit-Remaining", strconv.Itoa(max(0, s.opts.PerSecond-s.used)))
	h.Set("X-Sentry-Rate-Limit-Reset", strconv.FormatInt(s.now+1, 10))
	if s.used <= s.opts.PerSecond {
		return true
	}
	fail(w, http.StatusTooManyRequests, fmt.Sprintf("You are attempting to use this endpoint too frequently. Limit is %d requests in 1 seconds", s.opts.PerSecond))
	return false
}

// texts are what the service says with a status.
var texts = map[int]string{
	http.StatusUnauthorized:    "Token expired",
	http.StatusForbidden:       "You do not have permission to perform this action.",
	http.StatusTooManyRequests: "You are attempting to use this endpoint too frequently.",
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, detail string) {
	if status == 0 {
		return
	}
	if detail == "" {
		detail = http.StatusText(status)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"detail": detail}) // a client that has left sees nothing of it
}
