package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/apps/chat/internal/server/page"
)

type object = map[string]any

// A service speaks the API that the page needs, as openapi.yaml of package chatserver describes it, from memory. What is answered depends on
// words in what was said; the script is in script_test.go.
type service struct {
	key string // that lets in; empty: everybody

	mu       sync.Mutex
	sessions []*talk // last changed first
	memories []object
	made     int
	runs     int  // that have begun
	lists    int  // of sessions that were asked for
	down     bool // no connection comes through
	cut      chan struct{}
	keys     map[string]bool // Idempotency-Keys that came
	agents   []object
	goOn     chan struct{} // closed: slow answers go on
}

// A talk is a session.
type talk struct {
	id, title           string
	messages            []object
	base                []object // messages before the run, or the newest one
	log                 []string // events, in JSON
	from                int      // the first one of the run
	changed             chan struct{}
	stop                context.CancelFunc // of the run; nil: there is none
	done                chan struct{}
	partial             string
	steered             []string // what was said while a run was under way
	waits               object   // the call that waits
	tokens              int
	points              []object
	hold, archived, cut bool
}

const csrfToken = "token-of-the-cookie"

func newService(key string) *service {
	return &service{key: key, cut: make(chan struct{}), goOn: make(chan struct{}), keys: map[string]bool{}, agents: []object{{"name": "default", "model": "m"}},
		memories: []object{
			{"id": "m1", "kind": "preference", "text": "Prefers short answers with an example.", "scope": "user", "session": "s1", "times": 3, "created": time.Now().Add(-50 * time.Hour), "confirmed": time.Now().Add(-2 * time.Hour)},
			{"id": "m2", "kind": "decision", "text": "The invoices go out on the 3rd of each month.", "scope": "user", "times": 1, "created": time.Now().Add(-300 * time.Hour), "confirmed": time.Now().Add(-300 * time.Hour)},
		}}
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", page.Handler())
	mux.HandleFunc("POST /v1/login", s.login)
	for pattern, h := range map[string]http.HandlerFunc{
		"POST /v1/logout": func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "decant_session", Path: "/", MaxAge: -1})
			w.WriteHeader(204)
		},
		"GET /v1/me": func(w http.ResponseWriter, r *http.Request) {
			answer(w, 200, object{"tenant": "t", "open": s.key == "", "csrf": csrfToken})
		},
		"GET /v1/agents":         func(w http.ResponseWriter, r *http.Request) { answer(w, 200, s.agents) },
		"GET /v1/sessions":       s.list,
		"POST /v1/sessions":      func(w http.ResponseWriter, r *http.Request) { answer(w, 201, s.add("").about()) },
		"GET /v1/memory":         func(w http.ResponseWriter, r *http.Request) { answer(w, 200, s.memories) },
		"DELETE /v1/memory/{id}": s.forget,
	} {
		mux.HandleFunc(pattern, s.admitted(h))
	}
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request, *talk, object){
		"GET /v1/sessions/{id}":                   func(w http.ResponseWriter, r *http.Request, t *talk, _ object) { answer(w, 200, t.about()) },
		"GET /v1/sessions/{id}/messages":          func(w http.ResponseWriter, r *http.Request, t *talk, _ object) { answer(w, 200, t.messages) },
		"GET /v1/sessions/{id}/messages/{n}/why":  s.why,
		"PATCH /v1/sessions/{id}":                 s.patch,
		"DELETE /v1/sessions/{id}":                s.remove,
		"POST /v1/sessions/{id}/messages":         s.say,
		"POST /v1/sessions/{id}/stop":             s.halt,
		"POST /v1/sessions/{id}/continue":         func(w http.ResponseWriter, r *http.Request, t *talk, _ object) { s.run(w, t, "continue") },
		"POST /v1/sessions/{id}/rewind":           s.rewind,
		"POST /v1/sessions/{id}/fork":             s.fork,
		"POST /v1/sessions/{id}/approvals/{call}": s.decide,
		"GET /v1/sessions/{id}/context":           func(w http.ResponseWriter, r *http.Request, t *talk, _ object) { answer(w, 200, t.context()) },
		"POST /v1/sessions/{id}/pour":             func(w http.ResponseWriter, r *http.Request, t *talk, _ object) { t.pour(); answer(w, 200, t.context()) },
		"POST /v1/sessions/{id}/undo":             s.undo,
	} {
		mux.HandleFunc(pattern, s.admitted(s.of(h)))
	}
	mux.HandleFunc("GET /v1/sessions/{id}/events", s.admitted(s.events))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		down := s.down && strings.HasPrefix(r.URL.Path, "/v1/")
		s.mu.Unlock()
		if down {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	answer(w, status, object{"error": object{"type": kind, "message": message}})
}

// connected lets connections through, or ends them all.
func (s *service) connected(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down = !is; s.down {
		close(s.cut)
		s.cut = make(chan struct{})
	}
}

func (s *service) login(w http.ResponseWriter, r *http.Request) {
	var in struct{ Key string }
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Key != s.key {
		refuse(w, 401, "authentication", "a key is needed")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "decant_session", Value: "sealed", Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	answer(w, 200, object{"tenant": "t", "open": false, "csrf": csrfToken})
}

func (s *service) admitted(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("decant_session"); s.key != "" && (err != nil || c.Value != "sealed") {
			refuse(w, 401, "authentication", "a key is needed")
			return
		}
		if s.key != "" && r.Method != "GET" && r.Header.Get("X-CSRF-Token") != csrfToken {
			refuse(w, 403, "permission", "the header X-CSRF-Token is missing or wrong")
			return
		}
		h(w, r)
	}
}

// of returns a handler of requests about a session. It holds the lock.
func (s *service) of(h func(http.ResponseWriter, *http.Request, *talk, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := object{}
		if r.ContentLength != 0 && json.NewDecoder(r.Body).Decode(&in) != nil {
			refuse(w, 400, "invalid_request", "not JSON")
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		t := s.find(r.PathValue("id"))
		if t == nil {
			refuse(w, 404, "not_found", "no such session")
			return
		}
		h(w, r, t, in)
	}
}

func (s *service) find(id string) *talk {
	for _, t := range s.sessions {
		if t.id == id {
			return t
		}
	}
	return nil
}

// add begins a session.
func (s *service) add(title string, messages ...object) *talk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin(title, messages...)
}

func (s *service) begin(title string, messages ...object) *talk {
	s.made++
	t := &talk{id: "s" + strconv.Itoa(s.made), title: title, messages: messages, base: messages, changed: make(chan struct{}), tokens: 12300}
	s.sessions = append([]*talk{t}, s.sessions...)
	return t
}

func (t *talk) about() object {
	return object{"id": t.id, "agent": "default", "title": t.title, "created": time.Now(), "updated": time.Now().Add(-3 * time.Minute), "turns": len(t.messages) / 2,
		"running": t.stop != nil, "waiting": t.waits != nil, "interrupted": t.cut, "archived": t.archived, "spent": object{"turns": 1, "tokens": 15000, "usd": 0.1234}}
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	out := []object{}
	for _, t := range s.sessions {
		if t.archived == (r.FormValue("archived") == "true") && r.FormValue("before") == "" && strings.Contains(strings.ToLower(t.title), strings.ToLower(r.FormValue("q"))) {
			out = append(out, t.about())
		}
	}
	answer(w, 200, out)
}

func (s *service) forget(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range s.memories {
		if m["id"] == r.PathValue("id") {
			s.memories = append(s.memories[:i:i], s.memories[i+1:]...)
			w.WriteHeader(204)
			return
		}
	}
	refuse(w, 404, "not_found", "no such memory")
}

func (s *service) patch(w http.ResponseWriter, r *http.Request, t *talk, in object) {
	if title, ok := in["title"].(string); ok {
		t.title = title
	}
	if archived, ok := in["archived"].(bool); ok {
		t.archived = archived
	}
	answer(w, 200, t.about())
}

func (s *service) remove(w http.ResponseWriter, r *http.Request, t *talk, _ object) {
	for i := range s.sessions {
		if s.sessions[i] == t {
			s.sessions = append(s.sessions[:i:i], s.sessions[i+1:]...)
			break
		}
	}
	w.WriteHeader(204)
}

// events sends what happens in a session, from a snapshot or from behind an event.
func (s *service) events(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	t, cut := s.find(r.PathValue("id")), s.cut
	if t == nil {
		s.mu.Unlock()
		refuse(w, 404, "not_found", "no such session")
		return
	}
	from, err := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	w.Header().Set("Content-Type", "text/event-stream")
	if err != nil || from > len(t.log) {
		from = t.from
		fmt.Fprintf(w, "id: %d\ndata: %s\n\n", from, t.snapshot())
	}
	s.mu.Unlock()
	for {
		s.mu.Lock()
		events, more := t.log[from:], t.changed
		s.mu.Unlock()
		for _, e := range events {
			from++
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", from, e)
		}
		w.(http.Flusher).Flush()
		select {
		case <-more:
		case <-cut:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

func (t *talk) snapshot() string {
	return text(object{"kind": "snapshot", "messages": t.base, "session": t.about()})
}

// mark notes what was said before a run. Whoever comes later is told that, and what has happened since.
func (t *talk) mark() {
	t.base, t.from = append([]object{}, t.messages...), len(t.log)
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// tell adds an event. The service is locked.
func (t *talk) tell(e object) {
	t.log = append(t.log, text(e))
	close(t.changed)
	t.changed = make(chan struct{})
}
