package sandbox

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant"
)

// An Entry is one request that the sandbox received and what became of it.
type Entry struct {
	Number      int // of the request, counted from 1
	Time        time.Time
	Method      string
	Path        string       // with the query
	Header      http.Header  // keys and tokens are replaced by "[redacted]"
	Body        []byte       // decompressed; read only; nil when the log had to make room
	Status      int          // 0 when the exchange ended without one
	Error       string       // the refusal's message, empty when accepted
	Fault       FaultKind    // what went wrong on purpose
	Prompt      int          // tokens, when the request was counted
	Usage       decant.Usage // of all passes, also those of compactions
	Stop        string       // stop reason
	Dropped     int          // thinking blocks left out
	Cleared     int          // results left out by context editing
	Compactions int          // that the server made, or tried to make, for the request
	Answer      []byte       // the message as JSON, also of a stream; read only
}

// A Log keeps the newest entries, and the newest bodies up to a limit of its own. It is safe for
// concurrent use. An entry is there before the client sees the end of its answer.
type Log struct {
	mu      sync.Mutex
	size    int // entries
	room    int // bytes of bodies
	entries []Entry
	held    int // bytes of bodies held
	bare    int // entries at the beginning that have lost their bodies
}

func (l *Log) add(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	l.held += len(e.Body)
	for l.bare < len(l.entries)-1 && (l.held > l.room || len(l.entries)-l.bare > l.size) {
		old := &l.entries[l.bare]
		l.held -= len(old.Body)
		old.Body = nil
		l.bare++
	}
	if extra := len(l.entries) - l.size; extra > 0 {
		l.entries = slices.Delete(l.entries, 0, extra)
		l.bare -= extra
	}
}

// Entries returns the entries in the order of their verdicts.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// Last returns the newest entry of a request that posts something, the zero Entry when there is none. Clients get the list of
// models whenever it suits them, so that one may come between a request and who looks for it.
func (l *Log) Last() Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.entries) {
		if e.Method == http.MethodPost {
			return e
		}
	}
	return Entry{}
}

// Refused returns the entries that were answered with an error other than one ordered by a fault.
func (l *Log) Refused() []Entry {
	return slices.DeleteFunc(l.Entries(), func(e Entry) bool { return e.Error == "" || e.Fault != "" })
}

// Reset forgets all entries.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.held, l.bare = nil, 0, 0
}

// redacted returns a copy of h without its secrets.
func redacted(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"X-Api-Key", "Authorization", "Cookie"} {
		if h.Get(name) != "" {
			h.Set(name, "[redacted]")
		}
	}
	return h
}
