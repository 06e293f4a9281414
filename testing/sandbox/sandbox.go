// Package sandbox is a strict stand-in for the Messages API, to judge everything else against.
//
// A [Server] speaks the API's HTTP: messages as JSON and as a stream of events, token counts and
// models. It knows the rules of the API and of each model and refuses what they refuse, with the
// documented statuses and texts; it signs thinking and notices when the conversation that a
// signature belongs to has been changed; it keeps a prompt cache and reports usage from it; it compacts, on demand and
// at a threshold; it fails on demand. Beside it are doors for OpenAI's Responses API, with the same care, and a smaller
// one for Chat Completions.
//
// What it is not is intelligent: a [Model] that plays a recording ([Script]) or follows simple rules ([Rules]) gives the
// answers, or one that knows nothing but what it is sent ([Reader]), or that writes summaries ([Summarizer]). Each can be
// made to fail as models do ([Misbehavior]).
//
// Its reading of the rules is independent of package legal on purpose: two readings of one
// specification find each other's mistakes. What of the API it does not have (threads, tools that change in mid-conversation) it refuses as unknown. A batch is worked on when somebody looks at it first. Section numbers in comments refer to the
// reference of the Messages API that the project works from.
//
// Where that leaves room, the stricter reading holds:
//   - thinking in a request is verified whether or not the request has thinking on;
//   - while calls are being answered, no thinking may be missing from the message that made them
//     (Options.ForgetAnswers takes this back);
//   - with manual thinking, the first message of the unfinished turn must begin with thinking;
//   - a model that is not known to take thinking off always thinks;
//   - results come before everything else in their message, not only before text;
//   - a body with a name twice or with invalid UTF-8 is not JSON;
//   - a compaction on demand goes with no stop_sequences, not even an empty list, and a signed block with nothing behind
//     it is nothing to summarize;
//   - the rules hold for messages before a block that makes the server ignore them, and thinking behind a signed block is
//     bound to that block, so that another summary of the same messages does not do.
//
// What a block would note of tools (tool_changes, references to tools that are loaded later) it does not note: they are
// gone with the range.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// Options configures a Server. The zero value is ready to use.
type Options struct {
	// Model answers. Nil means Rules with their defaults.
	Model Model

	// Summarizer writes the summaries of compactions that the server makes. Nil means a Summarizer.
	Summarizer Model

	// Catalog says which models exist and what they are like. Nil means the built-in one.
	Catalog *token.Catalog

	// Counter counts tokens, for limits and for usage. Nil means one token for every three bytes.
	Counter decant.Counter

	// Window replaces the context window of every model, in tokens. Zero leaves them as they are.
	Window int

	// Local are names of further models that the door of Chat Completions knows. It then behaves as local servers do
	// that have these models: they need no key unless there are Keys, and take the old name of the limit.
	Local []string

	// Blind says that the Local models look at no images: a request that shows one is refused.
	Blind bool

	// Keys are the API keys that are accepted. None means that any key is.
	Keys []string

	// Secret signs thinking. Nil means a fixed one that is no secret, so that conversations survive
	// a restart of the sandbox.
	Secret []byte

	// Betas are accepted in addition to those that the sandbox knows.
	Betas []string

	// OldAccount enforces the binding of thinking only where a request asks for it, as for accounts
	// that were created before 31 August 2026 (docs/reference/anthropic.md, "Bound thinking").
	OldAccount bool

	// ForgetAnswers makes the server blind to thinking that is missing from the assistant's open
	// turn, as one is that keeps no answers. What is there is checked all the same.
	ForgetAnswers bool

	// CountBilling makes the billing line that Claude Code puts before its system prompt, with another
	// value on every request, a part of what is cached, so that nothing behind it is ever read again.
	// Public reports disagree about it; without it the line is left out.
	CountBilling bool

	// Unasked is how long every prompt stays in the cache whether or not it has markers, as with providers
	// that cache by themselves: then nothing is reported as written. Zero means that markers decide.
	Unasked time.Duration

	// MaxText limits all text of a request, in bytes. Zero means no limit.
	MaxText int

	// LateOverflow makes streams of the Responses API begin before their prompt is found too long: the refusal then
	// is an event after status 200.
	LateOverflow bool

	// Chunk is about how many bytes a delta of a stream carries. Zero means 48.
	Chunk int

	// Faults decides what goes wrong with the n-th request for messages, counted from 1. Nil means
	// nothing. Faults given to Inject come first.
	Faults func(n int, r *http.Request) Fault

	// LogSize is how many requests the log keeps. Zero means 1,024.
	LogSize int

	// LogBytes is how many bytes of request bodies the log keeps; older entries lose theirs. The
	// newest body is always there. Zero means 64 MB.
	LogBytes int

	// Logged is told of every request as it enters the log, for those who add up more than the log keeps. Nil
	// means that nobody is.
	Logged func(Entry)

	// BatchTime is how long a batch takes. Zero means that it has ended when somebody looks at it first.
	BatchTime time.Duration

	// Batches is a folder in which batches are kept, so that another sandbox goes on with them. Empty means that they are lost with this one.
	Batches string

	// Now returns the current time. Nil means time.Now.
	Now func() time.Time

	// Sleep waits, for slow streams and stalls, and returns early with an error when the context
	// ends. Nil means to wait in real time.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Server is an http.Handler that behaves like the Messages API, and like OpenAI's APIs. It is safe for concurrent use.
type Server struct {
	// Log holds what was received.
	Log *Log

	opts       Options
	catalog    *token.Catalog
	model      Model
	summarizer Model
	counter    decant.Counter
	secret     []byte
	now        func() time.Time
	sleep      func(context.Context, time.Duration) error

	cache  cache
	memory memory
	shelf  shelf

	batches batches

	mu    sync.Mutex
	n     int // requests received
	asked int // requests for messages
	queue []Fault
}

// New returns a server.
func New(opts Options) *Server {
	s := &Server{
		Log: &Log{size: 1024, room: 64 << 20}, opts: opts, catalog: opts.Catalog, model: opts.Model, counter: opts.Counter,
		secret: opts.Secret, now: opts.Now, sleep: opts.Sleep, cache: cache{billing: opts.CountBilling, unasked: opts.Unasked},
	}
	if s.catalog == nil {
		catalog, err := token.Builtin()
		if err != nil {
			panic(fmt.Sprintf("sandbox: the built-in catalogue is broken: %v", err)) // it is part of the program
		}
		s.catalog = catalog
	}
	if s.model == nil {
		s.model = &Rules{}
	}
	if s.summarizer = opts.Summarizer; s.summarizer == nil {
		s.summarizer = Summarizer{}
	}
	if s.counter == nil {
		s.counter = estimate{}
	}
	if s.secret == nil {
		s.secret = []byte("decant sandbox")
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.sleep == nil {
		s.sleep = sleep
	}
	s.batches.load(s)
	if opts.LogSize > 0 {
		s.Log.size = opts.LogSize
	}
	if opts.LogBytes > 0 {
		s.Log.room = opts.LogBytes
	}
	if s.opts.Chunk <= 0 {
		s.opts.Chunk = 48
	}
	return s
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ListenAndServe serves a sandbox at addr until the context ends, and then waits for requests in
// progress for a second at most. It calls ready, unless that is nil, with the address once it listens.
func ListenAndServe(ctx context.Context, addr string, opts Options, ready func(net.Addr)) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: New(opts), ReadHeaderTimeout: 10 * time.Second}
	if ready != nil {
		ready(l.Addr())
	}
	done := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { done <- shutDown(srv) })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		if stop() {
			return fmt.Errorf("serve: %w", err)
		}
	}
	return <-done
}

// shutDown ends a server, with force where a stalled request would hold it.
func shutDown(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		return srv.Close()
	}
	return nil
}
