package transport

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// A world is a sandbox, a store and an engine between them.
type world struct {
	sandbox *sandbox.Server
	url     string
	store   store.Store
	engine  *engine.Engine
	client  *http.Client
}

func newWorld(t testing.TB, so sandbox.Options, eo engine.Options) *world {
	t.Helper()
	w := &world{sandbox: sandbox.New(so)}
	srv := httptest.NewServer(w.sandbox)
	t.Cleanup(srv.Close)
	w.url = srv.URL
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.store = db
	eo.Timeouts = sandboxtest.Patient
	if eo.Logger == nil {
		eo.Logger = testkit.StrictLog(t)
	}
	w.engine, err = engine.New(db, eo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.engine.Close()
		db.Close()
	})
	w.client = &http.Client{Transport: New(w.engine, Options{})}
	return w
}

// sdk returns the official client on the world's transport.
func (w *world) sdk(opts ...option.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]option.RequestOption{
		option.WithBaseURL(w.url), option.WithAPIKey("key"), option.WithHTTPClient(w.client), option.WithMaxRetries(0),
	}, opts...)...)
}

// pours returns how often the decisions about the world's only conversation came from another pour.
func (w *world) pours(t testing.TB) int {
	t.Helper()
	w.engine.Close()
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 1 {
		t.Fatalf("%d conversations, %v", len(cs), err)
	}
	s, err := w.store.Load(t.Context(), cs[0].Key, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	pours := map[string]bool{}
	for _, d := range s.Decisions {
		if d.Pour != "" {
			pours[d.Pour] = true
		}
	}
	return len(pours)
}

// An agent drives a conversation as programs do: it sends what the user says, runs the tools that the
// model calls, and goes on until the model is done.
type agent struct {
	client   anthropic.Client
	params   anthropic.MessageNewParams
	stream   bool
	requests int
	output   func(n int) string // of the n-th tool call
	calls    int
}

func newAgent(c anthropic.Client, model string, thinking anthropic.ThinkingConfigParamUnion) *agent {
	return &agent{client: c, params: anthropic.MessageNewParams{
		Model: anthropic.Model(model), MaxTokens: 8000, Thinking: thinking,
		System: []anthropic.TextBlockParam{{Text: "You are a careful agent that works with a shell.", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "Bash", Description: anthropic.String("Runs a command."),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"command": map[string]any{"type": "string"}}},
		}}},
	}}
}

// say plays one turn of at most rounds requests.
func (a *agent) say(ctx context.Context, words string, rounds int) error {
	a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(words)))
	for range rounds {
		m, err := a.ask(ctx)
		if err != nil {
			return fmt.Errorf("request %d: %w", a.requests, err)
		}
		a.params.Messages = append(a.params.Messages, m.ToParam())
		results := a.results(m)
		if len(results) == 0 {
			return nil
		}
		a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(results...))
	}
	return nil
}

func (a *agent) ask(ctx context.Context) (*anthropic.Message, error) {
	a.requests++
	if !a.stream {
		return a.client.Messages.New(ctx, a.params)
	}
	var m anthropic.Message
	s := a.client.Messages.NewStreaming(ctx, a.params)
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			return nil, err
		}
	}
	return &m, s.Err()
}

func (a *agent) results(m *anthropic.Message) (out []anthropic.ContentBlockParamUnion) {
	for _, b := range m.Content {
		if use, ok := b.AsAny().(anthropic.ToolUseBlock); ok {
			a.calls++
			out = append(out, anthropic.NewToolResultBlock(use.ID, a.output(a.calls), false))
		}
	}
	return out
}

// listing is what a tool returns: lines that are all different.
func listing(kb int) func(int) string {
	return func(n int) string {
		var s strings.Builder
		for i := 0; s.Len() < kb<<10; i++ {
			fmt.Fprintf(&s, "step %d line %d value_%d_%d = compute(alpha, beta_%d)\n", n, i, n, i, i)
		}
		return s.String()
	}
}

func manual() anthropic.ThinkingConfigParamUnion { return anthropic.ThinkingConfigParamOfEnabled(2048) }
func adaptive() anthropic.ThinkingConfigParamUnion {
	return anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
}
func off() anthropic.ThinkingConfigParamUnion { return anthropic.ThinkingConfigParamUnion{} }

// An agent works on and on in a small window: no request may be refused, in any mode of thinking, at
// turn boundaries and within long open rounds.
func TestOfficialClientIsNeverRefused(t *testing.T) {
	calls, least, most := 60, 4, 8 // pours
	if !testkit.Full() {
		calls, least, most = 26, 1, 4
	}
	for i, c := range []struct {
		name     string
		model    string
		thinking anthropic.ThinkingConfigParamUnion
		calls    int // in a turn
	}{
		{"ThinkingOff/Turns", "claude-sonnet-4-5", off(), 3},
		{"ThinkingOff/OpenRound", "claude-sonnet-4-5", off(), 1000},
		{"ManualUnbound/Turns", "claude-sonnet-4-5", manual(), 3},
		{"ManualUnbound/OpenRound", "claude-sonnet-4-5", manual(), 1000},
		{"AdaptiveUnbound/Turns", "claude-opus-4-6", adaptive(), 3},
		{"AdaptiveUnbound/OpenRound", "claude-opus-4-6", adaptive(), 1000},
		{"Bound/Turns", "claude-sonnet-5-5", adaptive(), 3},
		{"Bound/OpenRound", "claude-sonnet-5-5", adaptive(), 1000},
	} {
		for _, stream := range []bool{false, true} {
			if !testkit.Full() && stream != (i%4 == 1 || i%4 == 2) {
				continue // quick has each mode of thinking with and without a stream, and so turns and open rounds
			}
			t.Run(fmt.Sprintf("%s/Stream=%t", c.name, stream), func(t *testing.T) {
				t.Parallel()
				const window = 60_000
				w := newWorld(t, sandbox.Options{Window: window, Model: &sandbox.Rules{Calls: c.calls, Thought: 200}}, engine.Options{Window: window, NoEarlyPours: true})
				a := newAgent(w.sdk(), c.model, c.thinking)
				a.stream, a.output = stream, listing(6)
				for n := 0; a.calls < calls; n++ {
					if err := a.say(t.Context(), fmt.Sprintf("Do part %d of the work.", n+1), calls-a.calls); err != nil {
						t.Fatal(err)
					}
				}
				for _, e := range w.sandbox.Log.Refused() {
					t.Errorf("request %d refused: %s", e.Number, e.Error)
				}
				if n := w.pours(t); n < least || n > most {
					t.Errorf("%d pours, want at least %d, and room for some rounds after each", n, least)
				}
			})
		}
	}
}
