package notice

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// The names of events.
const (
	OnPour   = "pour"
	OnFlush  = "flush"
	OnBudget = "budget"
)

// A Hook says whom to tell of an event.
type Hook struct {
	Command []string      // a program with its arguments; empty: none
	URL     string        // an address that the event is posted to; empty: none
	Timeout time.Duration // that either has; 0: five seconds
	Content bool          // events have text of conversations
}

// On reports whether anybody is told.
func (h Hook) On() bool { return len(h.Command) > 0 || h.URL != "" }

// An Event is what has happened.
type Event struct {
	Name         string    `json:"event"`
	Time         time.Time `json:"time"`
	Tenant       string    `json:"tenant,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
	Facts        any       `json:"facts"`
	Content      any       `json:"content,omitempty"` // left out where the hook does not ask for it
}

// HookOptions configures Hooks.
type HookOptions struct {
	Hooks  map[string]Hook   // by the name of the event
	Client http.RoundTripper // the way out; it refuses hosts that are not allowed
	Logger *slog.Logger
}

const (
	mostWaiting    = 256
	defaultTimeout = 5 * time.Second
)

// Hooks tell of events, one after the other, in the order in which they come. The zero value and nil tell nobody. They are
// safe for concurrent use.
type Hooks struct {
	opts  HookOptions
	queue chan Event
	done  chan struct{}

	mu      sync.Mutex
	closed  bool
	dropped int // events since the last that was queued
}

// NewHooks starts hooks. The caller must close them.
func NewHooks(o HookOptions) *Hooks {
	h := &Hooks{opts: o, queue: make(chan Event, mostWaiting), done: make(chan struct{})}
	go h.work()
	return h
}

// Tell queues an event and returns at once. An event that nobody wants, or for which there is no room, is dropped.
func (h *Hooks) Tell(e Event) {
	if h == nil || h.queue == nil || !h.opts.Hooks[e.Name].On() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	select {
	case h.queue <- e:
		h.noteDropped()
	default:
		h.dropped++
	}
}

// noteDropped logs how many events had no room.
func (h *Hooks) noteDropped() {
	if h.dropped > 0 {
		h.opts.Logger.Warn("hooks are too slow: events were not told", "events", h.dropped)
		h.dropped = 0
	}
}

// Close waits for events that were queued, each at most as long as its hook may take.
func (h *Hooks) Close() {
	if h == nil || h.queue == nil {
		return
	}
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.queue)
		h.noteDropped()
	}
	h.mu.Unlock()
	<-h.done
}

// work tells of events until the hooks are closed.
func (h *Hooks) work() {
	defer close(h.done)
	for e := range h.queue {
		h.tell(h.opts.Hooks[e.Name], e)
	}
}

// tell tells one hook of an event.
func (h *Hooks) tell(to Hook, e Event) {
	if !to.Content {
		e.Content = nil
	}
	body, err := json.Marshal(e)
	if err != nil {
		h.opts.Logger.Warn("an event cannot be written", "event", e.Name, "error", err)
		return
	}
	if to.Timeout == 0 {
		to.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), to.Timeout)
	defer cancel()
	if len(to.Command) > 0 {
		h.note(e, "command", run(ctx, to.Command, body))
	}
	if to.URL != "" {
		h.note(e, "url", h.post(ctx, to.URL, body))
	}
}

// note logs that a hook has failed.
func (h *Hooks) note(e Event, what string, err error) {
	if err != nil {
		h.opts.Logger.Warn("a hook failed", "event", e.Name, "hook", what, "error", err.Error())
	}
}
