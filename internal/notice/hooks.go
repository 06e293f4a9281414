package notice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Names of events.
const (
	OnPour   = "pour"
	OnFlush  = "flush"
	OnBudget = "budget"
)

// A Hook is a command or an address that gets events as JSON: a command on its standard input, an address as
// a POST request. An event has facts, numbers and ids; it has text of a conversation only if the hook asks
// for it.
type Hook struct {
	Command []string      // a program with its arguments; empty: none
	URL     string        // an address; empty: none
	Timeout time.Duration // time limit of each; 0: five seconds
	Content bool          // events have text of conversations
}

// On reports whether the hook is configured.
func (h Hook) On() bool { return len(h.Command) > 0 || h.URL != "" }

// An Event is a pour, a flush, or a budget that is nearly spent.
type Event struct {
	Name         string    `json:"event"`
	Time         time.Time `json:"time"`
	Tenant       string    `json:"tenant,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
	Facts        any       `json:"facts"`
	Content      any       `json:"content,omitempty"` // only for hooks that ask for it
}

// HookOptions configures Hooks.
type HookOptions struct {
	Hooks  map[string]Hook   // by the name of the event
	Client http.RoundTripper // refuses hosts that are not allowed
	Logger *slog.Logger
}

const (
	mostWaiting    = 256
	defaultTimeout = 5 * time.Second
)

// Hooks send events in order, one at a time, without keeping anybody waiting: events queue up to a limit, and
// failures are only logged. Nil and the zero value send nothing. Hooks are safe for concurrent use.
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

// Tell queues an event and returns at once. It drops an event that no hook wants, or that finds the queue full.
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

// noteDropped logs how many events were dropped.
func (h *Hooks) noteDropped() {
	if h.dropped > 0 {
		h.opts.Logger.Warn("hooks are too slow: events were dropped", "events", h.dropped)
		h.dropped = 0
	}
}

// Close sends the queued events, each within the time limit of its hook.
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

// work sends events until the hooks are closed.
func (h *Hooks) work() {
	defer close(h.done)
	for e := range h.queue {
		h.tell(h.opts.Hooks[e.Name], e)
	}
}

// tell sends an event to one hook.
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

// note logs a failure of a hook.
func (h *Hooks) note(e Event, what string, err error) {
	if err != nil {
		h.opts.Logger.Warn("a hook failed", "event", e.Name, "hook", what, "error", err.Error())
	}
}

// passed are the environment variables that a command gets. Others may contain keys.
var passed = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"}

// run runs a command with an event on its standard input. Its output is discarded.
func run(ctx context.Context, command []string, event []byte) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin = bytes.NewReader(append(event, '\n'))
	c.Env = []string{}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	c.WaitDelay = time.Second // what it started may hold its pipes open
	err := c.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("run %s: it took too long", command[0])
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return nil
}

// post posts an event to an address. It reads no answer and follows no redirect.
func (h *Hooks) post(ctx context.Context, to string, event []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(event))
	if err != nil {
		return errors.New("post: the address cannot be parsed")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "decant")
	res, err := h.opts.Client.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("post to %s: %w", host(to), err)
	}
	defer res.Body.Close()
	if _, err := io.CopyN(io.Discard, res.Body, 64<<10); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("post to %s: %w", host(to), err)
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("post to %s: status %d", host(to), res.StatusCode)
	}
	return nil
}

// host returns the host of an address, for errors: the path may be a secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address"
	}
	return u.Host
}
