// Package slack is a strict stand-in for the part of Slack that decant triage uses: auth.test, chat.postMessage, conversations.list,
// conversations.history, conversations.replies, and incoming webhooks.
//
// It refuses with Slack's own words what Slack refuses: a wrong token, a channel that is not there or that the bot is not a member of, a scope
// that is missing, a text without an end, metadata without a type, a thread that does not exist. An operation that it does not know is
// unknown_method. Metadata is told only to those who ask for it, as Slack does.
package slack

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/testing/standin"
)

// mostText is how many characters a message may have: Slack cuts longer ones, this refuses them.
const mostText = 40_000

// Options configures a Server.
type Options struct {
	Token    string            // that clients must send
	Channels map[string]string // names of channels by their ids: {"C01": "errors"}
	Outside  []string          // ids of channels that the bot is not a member of
	Scopes   []string          // of the token; nil: all that are asked for here
	Webhook  string            // path of an incoming webhook, such as /services/T1/B1/abc, for the first channel; empty: there is none
	Now      func() time.Time  // nil: time.Now
}

// A Message is one that was posted.
type Message struct {
	Channel  string
	TS       string
	Thread   string // the message that it answers; empty: none
	Text     string
	Metadata json.RawMessage
}

// A Server is a stand-in for slack.com. It is safe for concurrent use.
type Server struct {
	standin.Faults
	opts Options
	mux  *http.ServeMux

	mu       sync.Mutex
	messages []Message
	calls    map[string]int
	lose     map[string]int // by operation, how many answers are still to be lost
}

// New returns a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{opts: o, mux: http.NewServeMux(), calls: map[string]int{}, lose: map[string]int{}}
	s.method("auth.test", "", s.authTest)
	s.method("chat.postMessage", "chat:write", s.post)
	s.method("conversations.list", "channels:read", s.list)
	s.method("conversations.history", "channels:history", s.history)
	s.method("conversations.replies", "channels:history", s.replies)
	if o.Webhook != "" {
		s.mux.HandleFunc("POST "+o.Webhook, s.webhook)
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/services/") {
			http.Error(w, "no_service", http.StatusNotFound)
			return
		}
		write(w, refused("unknown_method"))
	})
	return s
}

// Messages returns what was posted, in its order.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Calls returns how often each operation was called; that of a webhook is "webhook".
func (s *Server) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// Lose lets the next answers of an operation be lost: what it asks for is done, and the connection is closed.
func (s *Server) Lose(operation string, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose[operation] += times
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// object is a JSON object that is made.
type object = map[string]any

func refused(why string) object { return object{"ok": false, "error": why} }

// method serves an operation that needs a scope.
func (s *Server) method(name, scope string, do func(form) object) {
	s.mux.HandleFunc("POST /api/"+name, func(w http.ResponseWriter, r *http.Request) {
		s.count(name)
		if status, over := s.Strike(w, r, name); over {
			s.failed(w, status)
			return
		}
		f, why := s.admit(r, scope)
		var out object
		if why != "" {
			out = refused(why)
			if why == "missing_scope" {
				out["needed"], out["provided"] = scope, strings.Join(s.opts.Scopes, ",")
			}
		} else {
			out = do(f)
		}
		s.answer(w, name, out)
	})
}

func (s *Server) count(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name]++
}

// failed writes the answer of a fault.
func (s *Server) failed(w http.ResponseWriter, status int) {
	switch status {
	case 0:
	case http.StatusTooManyRequests:
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(refused("ratelimited"))
	case http.StatusUnauthorized:
		write(w, refused("token_expired"))
	default:
		http.Error(w, http.StatusText(status), status)
	}
}

// answer writes an answer, or loses it.
func (s *Server) answer(w http.ResponseWriter, name string, out object) {
	s.mu.Lock()
	lost := s.lose[name] > 0
	if lost {
		s.lose[name]--
	}
	s.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler) // the documented way to close a connection without an answer
	}
	write(w, out)
}

func write(w http.ResponseWriter, out object) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.NewEncoder(w).Encode(out)
}

// next returns the time stamp of the next message, by which Slack names it. The server must be locked.
func (s *Server) next() string {
	return fmt.Sprintf("%d.%06d", s.opts.Now().Unix(), len(s.messages)+1)
}
