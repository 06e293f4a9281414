package anthropic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-ant-test-0123456789"

// client returns a client of a server on loopback.
func client(t *testing.T, h http.Handler, o anthropic.Options) *anthropic.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	over := &http.Transport{}
	t.Cleanup(func() {
		over.CloseIdleConnections()
		srv.Close()
	})
	o.Base, o.Transport = srv.URL, over
	if o.Credential.IsZero() {
		o.Credential = provider.Key("x-api-key", testKey)
	}
	c, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// says answers everything with one text.
type says string

func (s says) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: string(s)}}}, nil
}

func ask() *provider.Request {
	return &provider.Request{Model: "claude-haiku-4-5", System: "Be short.", Prompt: "What is it?", MaxTokens: 400, Cool: true}
}

// A prompt is answered by every Claude model in service, at temperature 0 where the model takes one.
func TestAskEveryModel(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: says("It is so."), Keys: []string{testKey}})
	c := client(t, s, anthropic.Options{})
	for model, cool := range map[string]bool{"claude-haiku-4-5": true, "claude-haiku-5-5": false, "claude-opus-5-5": false, "claude-sonnet-4-5": true} {
		r := ask()
		r.Model = model
		a, err := c.Ask(t.Context(), r)
		if err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		body := string(s.Log.Last().Body)
		if !strings.HasSuffix(a.Text, "It is so.") || a.Stop != "end_turn" || a.Model != model || a.Calls != 0 || a.Usage.Prompt() == 0 || a.Usage.Output == 0 {
			t.Errorf("%s: %+v", model, a)
		}
		if strings.Contains(body, `"temperature":0`) != cool || strings.Contains(body, "tools") {
			t.Errorf("%s was asked %s", model, body)
		}
	}
}

// A body leaves byte for byte, with its betas, whatever the SDK's types know of it; the answer to a stream is read as well.
func TestABodyIsSentAsItStands(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: says("Yes.")})
	c := client(t, s, anthropic.Options{})
	for _, stream := range []string{"false", "true"} {
		body := `{ "max_tokens":50,"stream":` + stream + `,  "messages":[{"content":"h\u0069","role":"user"}],"model":"claude-haiku-4-5" }`
		a, err := c.Ask(t.Context(), &provider.Request{Model: "claude-haiku-4-5", Body: []byte(body), Betas: []string{"context-management-2025-06-27", "interleaved-thinking-2025-05-14"}})
		if err != nil {
			t.Fatal(err)
		}
		sent := s.Log.Last()
		if string(sent.Body) != body || a.Text != "Yes." || !strings.Contains(string(a.Content), `"type":"text"`) || a.Stop != "end_turn" {
			t.Errorf("sent %s, answered %+v", sent.Body, a)
		}
		if got := strings.Join(sent.Header.Values("Anthropic-Beta"), ","); got != "context-management-2025-06-27,interleaved-thinking-2025-05-14" {
			t.Errorf("betas %q", got)
		}
	}
}

// An answer that may take long is asked for as a stream.
func TestALongAnswerIsStreamed(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: says("Yes.")})
	r := ask()
	r.MaxTokens = 32_000
	a, err := client(t, s, anthropic.Options{}).Ask(t.Context(), r)
	if err != nil || a.Text != "Yes." || !strings.Contains(string(s.Log.Last().Body), `"stream":true`) {
		t.Errorf("%+v, %v", a, err)
	}
}

// fixed answers everything alike.
func fixed(status int, kind, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

// Iterations are summed, since the other numbers leave compactions out (docs/reference/anthropic.md, "Usage").
func TestUsageIsWhatIsBilled(t *testing.T) {
	const body = `{"type":"message","model":"claude-opus-5-5","content":[{"type":"compaction","content":"so"}],"stop_reason":"compaction",
		"usage":{"input_tokens":0,"output_tokens":0,"iterations":[
		{"type":"compaction","input_tokens":100,"output_tokens":10,"cache_read_input_tokens":5},
		{"type":"message","input_tokens":7,"output_tokens":3,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":9}}]}}`
	a, err := client(t, fixed(200, "application/json", body), anthropic.Options{}).Ask(t.Context(), ask())
	want := decant.Usage{Input: 107, CacheRead: 5, CacheWrite: 9, Write1h: 9, Output: 13}
	if err != nil || a.Usage != want || a.Stop != "compaction" || !strings.Contains(string(a.Content), "compaction") {
		t.Errorf("%+v, %v", a, err)
	}
}

// What is no whole answer is an error, which says so; what was billed is known as far as it was reported.
func TestAnswersOfNoUse(t *testing.T) {
	const begun = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-haiku-4-5\",\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n"
	for name, tt := range map[string]struct {
		status     int
		kind, body string
		is         error
		input      int
	}{
		"half an object":       {200, "application/json", `{"content":[{"type":"te`, provider.ErrBroken, 0},
		"a page":               {200, "text/html", `<html>`, provider.ErrBroken, 0},
		"another API":          {200, "application/json", `{"choices":[]}`, provider.ErrBroken, 0},
		"half a stream":        {200, "text/event-stream", begun, provider.ErrBroken, 25},
		"too long":             {200, "application/json", `{"content":[{"type":"text","text":"` + strings.Repeat("x", 2000) + `"}]}`, provider.ErrBroken, 0},
		"an error in a stream": {200, "text/event-stream", begun + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", nil, 25},
		"refused":              {400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, provider.ErrRefused, 0},
		"too large":            {413, "application/json", `{"type":"error","error":{"type":"request_too_large","message":"no"}}`, provider.ErrRefused, 0},
		"spent":                {429, "application/json", `{"type":"error","error":{"type":"rate_limit_error","message":"no","details":{"error_code":"enforced_spend_limit_reached"}}}`, provider.ErrRefused, 0},
		"no JSON":              {404, "text/html", `<html>not here</html>`, provider.ErrRefused, 0},
	} {
		a, err := client(t, fixed(tt.status, tt.kind, tt.body), anthropic.Options{Largest: 1000}).Ask(t.Context(), ask())
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && errors.Is(err, provider.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if got := 0; a != nil && a.Usage.Input != tt.input || a == nil && got != tt.input {
			t.Errorf("%s: %+v is known", name, a)
		}
	}
}

// What passes is tried again twice, as the SDK does; what does not is not.
func TestRetries(t *testing.T) {
	for status, want := range map[int]int{400: 1, 401: 1, 403: 1, 404: 1, 413: 1, 408: 3, 409: 3, 429: 3, 500: 3, 529: 3} {
		tries := 0
		h := fixed(status, "application/json", `{"type":"error","error":{"type":"x","message":"y"}}`)
		c := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tries++
			h.ServeHTTP(w, r)
		}), anthropic.Options{})
		_, err := c.Ask(t.Context(), ask())
		if f, ok := errors.AsType[*provider.Failure](err); tries != want || !ok || f.Status != status || f.Refused != (want == 1) {
			t.Errorf("%d: %d tries, %v", status, tries, err)
		}
	}
}

// A call of the preset night-watch waits from 15 to 120 seconds before it is tried again.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sandbox.New(sandbox.Options{Model: says("Yes.")})
		s.Inject(sandbox.Fault{Kind: sandbox.FaultOverloaded}, sandbox.Fault{Kind: sandbox.FaultRateLimit, Wait: 50 * time.Second})
		over, stop := s.Pipe()
		defer stop()
		c, err := anthropic.New(anthropic.Options{Base: "http://pipe", Credential: provider.Key("x-api-key", testKey), Transport: over})
		if err != nil {
			t.Fatal(err)
		}
		night, err := preset.Load("night-watch")
		if err != nil {
			t.Fatal(err)
		}
		r := ask()
		r.Backoff = provider.Backoff(night.Summary.Retry)
		begun := time.Now()
		a, err := c.Ask(t.Context(), r)
		if took := time.Since(begun); err != nil || a.Text != "Yes." || took < 65*time.Second || took > 73*time.Second {
			t.Errorf("after %v: %+v, %v", took, a, err)
		}
	})
}

// Check says whether a model can be asked, and costs nothing.
func TestCheck(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: says("Yes."), Keys: []string{testKey}})
	if err := client(t, s, anthropic.Options{}).Check(t.Context(), "claude-haiku-4-5"); err != nil {
		t.Error(err)
	}
	if err := client(t, s, anthropic.Options{}).Check(t.Context(), "claude-none"); !errors.Is(err, provider.ErrRefused) {
		t.Error(err)
	}
	if err := client(t, s, anthropic.Options{Credential: provider.Key("x-api-key", "sk-wrong-key")}).Check(t.Context(), "claude-haiku-4-5"); !errors.Is(err, provider.ErrRefused) {
		t.Error(err)
	}
}

// A call ends when its context does.
func TestACallCanBeCancelled(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: says("Yes.")})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultStall})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	arrives := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		s.ServeHTTP(w, r)
	})
	if _, err := client(t, arrives, anthropic.Options{}).Ask(ctx, ask()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A credential does not follow a redirect.
func TestRedirectsAreRefused(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	tries := 0
	c := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tries++
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}), anthropic.Options{})
	if _, err := c.Ask(t.Context(), ask()); !errors.Is(err, provider.ErrRefused) || asked != 0 || tries != 1 || strings.Contains(fmt.Sprint(err), other.URL) {
		t.Errorf("%v; the other was asked %d times after %d tries", err, asked, tries)
	}
}

func TestBaseURLsAreChecked(t *testing.T) {
	for _, base := range []string{"ftp://x", "https://", "https://user:pa55word@x", "https://x?y=1", "https://x#y", "\x00", "api.anthropic.com"} {
		if _, err := anthropic.New(anthropic.Options{Base: base}); err == nil || strings.Contains(err.Error(), "pa55word") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// The environment says whose calls they are and where they go, as for Anthropic's own SDKs.
func TestFromEnv(t *testing.T) {
	var key string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("X-Api-Key")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	t.Setenv("ANTHROPIC_BASE_URL", srv.URL)
	t.Setenv("ANTHROPIC_API_KEY", "")
	if _, err := anthropic.FromEnv(); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
	t.Setenv("ANTHROPIC_API_KEY", testKey)
	c, err := anthropic.FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(t.Context(), "claude-haiku-4-5"); err == nil || key != testKey {
		t.Errorf("the server was sent the key %q; error %v", key, err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
