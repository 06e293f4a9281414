package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client returns a client of a server on loopback.
func client(t *testing.T, h http.Handler, o openai.Options) *openai.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	over := &http.Transport{}
	t.Cleanup(func() {
		over.CloseIdleConnections()
		srv.Close()
	})
	o.Base, o.Transport = srv.URL+"/v1", over
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask() *provider.Request {
	return &provider.Request{Model: "qwen3:8b", System: "Be short.", Prompt: "What is \"it\"?", MaxTokens: 400, Cool: true}
}

// A server is a small one of Chat Completions. It answers with the number of bytes of the prompt.
type server struct {
	asked  []string
	header http.Header
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.asked, s.header = append(s.asked, string(body)), r.Header.Clone()
	var req struct {
		Model    string `json:"model"`
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	last := req.Messages[len(req.Messages)-1]
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":%q,"choices":[{"index":0,"finish_reason":"stop","logprobs":null,
		"message":{"role":"assistant","content":"%d bytes","refusal":null}}],"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,
		"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10}}}`, req.Model, len(last.Content))
}

// A local server needs no key, and gets the old name of the limit.
func TestAskALocalServer(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("OPENAI_ORG_ID", "org-of-the-environment")
	s := &server{}
	a, err := client(t, s, openai.Options{}).Ask(t.Context(), ask())
	if err != nil {
		t.Fatal(err)
	}
	if a.Text != "13 bytes" || a.Stop != "end_turn" || a.Model != "qwen3:8b" || a.Usage != (decant.Usage{Input: 30, CacheRead: 60, CacheWrite: 10, Output: 5}) {
		t.Errorf("%+v", a)
	}
	want := `{"model":"qwen3:8b","max_tokens":400,"temperature":0,"messages":[{"role":"system","content":"Be short."},{"role":"user","content":"What is \"it\"?"}]}`
	if s.asked[0] != want {
		t.Errorf("asked %s", s.asked[0])
	}
	if got := s.header.Get("Authorization") + s.header.Get("Openai-Organization"); got != "" {
		t.Errorf("sent %q of the environment", got)
	}
}

func TestAKeyIsSent(t *testing.T) {
	s := &server{}
	if _, err := client(t, s, openai.Options{Credential: provider.Bearer("sk-mine")}).Ask(t.Context(), ask()); err != nil || s.header.Get("Authorization") != "Bearer sk-mine" {
		t.Errorf("%v, sent %q", err, s.header.Get("Authorization"))
	}
}

// fixed answers everything alike.
func fixed(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

// Answers of the servers that understand the API differ in what they leave out.
func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		choice     string
		text, stop string
		calls      int
	}{
		"parts":        {`{"finish_reason":"stop","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`, "ab", "end_turn", 0},
		"too long":     {`{"finish_reason":"length","message":{"content":"a\u00e9"}}`, "aé", "max_tokens", 0},
		"calls":        {`{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[{"id":"1"},{"id":"2"}]}}`, "", "tool_use", 2},
		"refused":      {`{"finish_reason":"stop","message":{"content":null,"refusal":"No."}}`, "", "refusal", 0},
		"filtered":     {`{"finish_reason":"content_filter","message":{"content":""}}`, "", "refusal", 0},
		"thinks aloud": {`{"finish_reason":"stop","message":{"content":"<think>\nhm\n</think>\n\nSo."}}`, "So.", "end_turn", 0},
		"does not say": {`{"message":{"content":"x"}}`, "x", "", 0},
	} {
		a, err := client(t, fixed(200, `{"choices":[`+tt.choice+`]}`), openai.Options{}).Ask(t.Context(), ask())
		if err != nil || a.Text != tt.text || a.Stop != tt.stop || a.Calls != tt.calls || len(a.Content) == 0 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// What is no answer of a model is an error, which says whether it would be refused again.
func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		is     error
	}{
		"half an object": {200, `{"choices":[{"mess`, provider.ErrBroken},
		"another API":    {200, `{"content":[]}`, provider.ErrBroken},
		"no choice":      {200, `{"choices":[],"usage":{"prompt_tokens":9}}`, provider.ErrBroken},
		"too long":       {200, `{"choices":[{"message":{"content":"` + strings.Repeat("x", 2000) + `"}}]}`, provider.ErrBroken},
		"overflow":       {400, `{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, provider.ErrRefused},
		"llama.cpp":      {400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, provider.ErrRefused},
		"quota":          {429, `{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}`, provider.ErrRefused},
		"rate":           {429, `{"error":{"message":"x","type":"requests","code":"rate_limit_exceeded"}}`, nil},
		"down":           {503, `<html>`, nil},
		"not found":      {404, `404 page not found`, provider.ErrRefused},
	} {
		_, err := client(t, fixed(tt.status, tt.body), openai.Options{Largest: 1000}).Ask(t.Context(), ask())
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && errors.Is(err, provider.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if f, ok := errors.AsType[*provider.Failure](err); tt.status != 200 && (!ok || f.Status != tt.status || f.Message == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What passes is tried again twice, as the official client does.
func TestRetries(t *testing.T) {
	for status, want := range map[int]int{400: 1, 401: 1, 404: 1, 408: 3, 409: 3, 429: 3, 500: 3, 503: 3} {
		tries, h := 0, fixed(status, `{"error":{"message":"x","type":"y"}}`)
		_, err := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tries++
			h.ServeHTTP(w, r)
		}), openai.Options{}).Ask(t.Context(), ask())
		if tries != want || err == nil {
			t.Errorf("%d: %d tries, %v", status, tries, err)
		}
	}
}

// Check says whether a model can be asked, and costs nothing.
func TestCheck(t *testing.T) {
	c := client(t, fixed(200, `{"object":"list","data":[{"id":"qwen3:8b","object":"model"}]}`), openai.Options{})
	if err := c.Check(t.Context(), "qwen3:8b"); err != nil {
		t.Error(err)
	}
	if err := c.Check(t.Context(), "other"); err == nil {
		t.Error("a model that is not listed can be asked")
	}
	if err := client(t, fixed(401, `{}`), openai.Options{}).Check(t.Context(), "x"); !errors.Is(err, provider.ErrRefused) {
		t.Error(err)
	}
}

// A call ends when its context does, and follows no redirect.
func TestACallEndsWhereItShould(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stalls := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	if _, err := client(t, stalls, openai.Options{}).Ask(ctx, ask()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s := &server{}
	other := httptest.NewServer(s)
	defer other.Close()
	away := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
	})
	if _, err := client(t, away, openai.Options{}).Ask(t.Context(), ask()); !errors.Is(err, provider.ErrRefused) || len(s.asked) > 0 {
		t.Errorf("%v, the other was asked %q", err, s.asked)
	}
}

func TestBaseURLsAreChecked(t *testing.T) {
	for _, base := range []string{"ftp://x", "https://", "https://user:pa55word@x", "\x00"} {
		if _, err := openai.New(openai.Options{Base: base}); err == nil || strings.Contains(err.Error(), "pa55word") {
			t.Errorf("%q: %v", base, err)
		}
	}
}
