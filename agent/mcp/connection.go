package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant/internal/secret"
)

// A connection leads to one server.
type connection struct {
	server  Server
	opts    *Options
	client  *sdk.Client
	said    tail // by the server on its standard error
	changed atomic.Bool
	cancels cancels // over HTTP

	mu       sync.Mutex
	session  *sdk.ClientSession // nil: the server has ended
	starts   int                // in short succession
	began    time.Time          // the newest of them
	closed   bool
	tools    []*sdk.Tool
	progress map[string]func(text string) // of the calls under way, by their tokens
	calls    int                          // that were made
}

// maxStarts is how many times a server is started in short succession: once, and once again. One that was started a while ago counts as new,
// whether that has failed or not: a service goes on for months.
const (
	maxStarts = 2
	aWhile    = 10 * time.Minute
)

// errEnded means that a server has ended too often.
var errEnded = errors.New("the server has ended twice and is not started again")

// connect starts a server.
func connect(ctx context.Context, s Server, o *Options) (*connection, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	c := &connection{server: s, opts: o, progress: map[string]func(string){}}
	c.client = sdk.NewClient(&sdk.Implementation{Name: o.Client, Version: "1"}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{}, // no roots: the server is told nothing of this machine
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { c.changed.Store(true) },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { c.heard(r.Params) },
	})
	if _, err := c.live(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// live returns the session with the server, which is started if it has ended, and if it may be.
func (c *connection) live(ctx context.Context) (*sdk.ClientSession, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.began) > aWhile {
		c.starts = 0
	}
	switch {
	case c.session != nil:
		return c.session, nil
	case c.closed:
		return nil, errors.New("the connection is closed")
	case c.starts == maxStarts:
		return nil, c.because(errEnded)
	}
	c.starts, c.began = c.starts+1, time.Now()
	s, end, err := c.start(ctx)
	if err != nil {
		return nil, c.because(fmt.Errorf("it cannot be started: %w", err))
	}
	c.session = s
	c.changed.Store(true) // it may have other tools than when it was started last, if it was
	go func() {
		defer end()
		_ = s.Wait() // how it has ended does not matter
		c.lost(s)
	}()
	return s, nil
}

// start starts the server. Some transports live as long as the context that they are started with, so it is one that end ends.
func (c *connection) start(ctx context.Context) (s *sdk.ClientSession, end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.StartWithin)
	defer cancel()
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	late := context.AfterFunc(ctx, end)
	s, err = c.client.Connect(life, c.transport(), nil)
	switch {
	case err == nil && late():
		return s, end, nil
	case err == nil: // too late
		_ = s.Close()
		err = ctx.Err()
	case ctx.Err() != nil:
		err = errors.Join(ctx.Err(), err)
	}
	end()
	return nil, nil, err
}

// lost notes that a session has ended.
func (c *connection) lost(s *sdk.ClientSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s {
		c.session = nil
	}
}

// because adds to an error what the server has said last.
func (c *connection) because(err error) error {
	if said := c.said.last(); said != "" {
		return fmt.Errorf("%w; it said: %s", err, secret.Mask(said))
	}
	return err
}

// close ends the connection.
func (c *connection) close() error {
	c.mu.Lock()
	s := c.session
	c.closed, c.session = true, nil
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	c.cancels.wait()
	err := s.Close()
	if _, ended := errors.AsType[*exec.ExitError](err); ended || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil // it had to be ended, or was gone already
	}
	return err
}

// transport returns a new way to the server.
func (c *connection) transport() sdk.Transport {
	switch c.server.Type {
	case "stdio":
		cmd := exec.Command(c.server.Command, c.server.Args...)
		cmd.Dir, cmd.Env, cmd.Stderr = c.server.Dir, environment(c.server.Env), &c.said
		cmd.WaitDelay = endWithin
		return &program{cmd: cmd, said: &c.said}
	case "sse":
		return &sdk.SSEClientTransport{Endpoint: c.server.URL, HTTPClient: c.http()}
	}
	return &sdk.StreamableClientTransport{Endpoint: c.server.URL, HTTPClient: c.http()}
}

// shared are the variables that programs need to find their way. No others of this program's are given to a server: some are keys.
var shared = []string{"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
	"APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"}

// environment returns what a server gets as its environment.
func environment(more map[string]string) []string {
	var out []string
	for _, name := range shared {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	for name, v := range more {
		out = append(out, name+"="+v)
	}
	return out
}

// http returns a client that sends the headers of the server to it and to nobody else.
func (c *connection) http() *http.Client {
	u, err := url.Parse(c.server.URL)
	if err != nil {
		u = &url.URL{} // settle has parsed it
	}
	return &http.Client{Transport: &headed{c.opts.Base, u.Scheme, u.Host, c.server.Headers, &c.cancels}}
}

// headed adds headers to requests for one server, and notes which calls it knows to be given up.
type headed struct {
	http.RoundTripper
	scheme, host string
	headers      map[string]string
	cancels      *cancels
}

// RoundTrip implements http.RoundTripper.
func (h *headed) RoundTrip(r *http.Request) (*http.Response, error) {
	if saysCancelled(r) {
		defer h.cancels.add(-1)
	}
	if r.URL.Host != h.host || r.URL.Scheme != h.scheme || len(h.headers) == 0 {
		return h.RoundTripper.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	for name, v := range h.headers {
		r.Header.Set(name, v)
	}
	return h.RoundTripper.RoundTrip(r)
}

// listen has what a call tells of its progress told, and returns its token.
func (c *connection) listen(tell func(string)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	token := strconv.Itoa(c.calls)
	if tell != nil {
		c.progress[token] = tell
	}
	return token
}

// unlisten ends it.
func (c *connection) unlisten(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.progress, token)
}

// heard tells of the progress of a call.
func (c *connection) heard(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	c.mu.Lock()
	tell := c.progress[token]
	c.mu.Unlock()
	if tell != nil {
		tell(progressText(p))
	}
}

// progressText says how far a call is.
func progressText(p *sdk.ProgressNotificationParams) string {
	far := strconv.FormatFloat(p.Progress, 'g', -1, 64)
	if p.Total > 0 {
		far += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
	}
	if p.Message != "" {
		return p.Message + " (" + far + ")"
	}
	return far
}

// A tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// mostSaid is how much of it is kept.
const mostSaid = 4096

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = slices.Delete(t.text, 0, max(0, len(t.text)-mostSaid))
	return len(p), nil
}

// last returns the last lines, as one, cut to what people read.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return fmt.Sprintf("%.300s", strings.Join(lines[max(0, len(lines)-3):], " | "))
}
