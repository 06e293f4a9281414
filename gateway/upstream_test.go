package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
)

// Each request arrives at the server that is for it, at the path that the server knows, with the credential that
// is for the server.
func TestUpstreams(t *testing.T) {
	var got *http.Request
	where := ""
	at := func(name, path string) *url.URL {
		s := httptest.NewServer(handler(func(_ http.ResponseWriter, r *http.Request) { got, where = r, name }))
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	w := newWorld(t, handler(func(_ http.ResponseWriter, r *http.Request) { got, where = r, "anthropic" }), gateway.Options{
		OpenAI: at("openai", "/v1"),
		Routes: []gateway.Route{
			{URL: at("openrouter", "/api/v1"), Prefix: "/openrouter"},
			{URL: at("vllm", "/v1"), Model: "qwen*"},
			{URL: at("glm", ""), Model: "glm-*", Key: "own"},
			{URL: at("chatgpt", "/backend-api/codex"), Header: "chatgpt-account-id"},
		},
	}, engine.Options{})
	for _, c := range []struct {
		method, path, body     string
		header                 []string
		where, arrives, bearer string
	}{
		{"POST", "/v1/chat/completions", `{"model":"gpt-5"}`, nil, "openai", "/v1/chat/completions", "Bearer sk-1"},
		{"POST", "/chat/completions", `{"model":"gpt-5"}`, nil, "openai", "/v1/chat/completions", "Bearer sk-1"},
		{"GET", "/v1/models", "", nil, "openai", "/v1/models", "Bearer sk-1"},
		{"POST", "/v1/embeddings", `{"model":"qwen-embed"}`, nil, "openai", "/v1/embeddings", "Bearer sk-1"},
		{"POST", "/openrouter/v1/chat/completions", `{"model":"qwen3"}`, nil, "openrouter", "/api/v1/chat/completions", "Bearer sk-1"},
		{"GET", "/openrouter/v1/models", "", nil, "openrouter", "/api/v1/models", "Bearer sk-1"},
		{"POST", "/openrouter/v1/messages", `{"model":"x"}`, nil, "openrouter", "/api/v1/messages", "Bearer sk-1"},
		{"POST", "/openrouters/v1/messages", `{"model":"x"}`, nil, "anthropic", "/openrouters/v1/messages", "Bearer sk-1"},
		{"POST", "/v1/chat/completions", `{"model":"qwen3"}`, nil, "vllm", "/v1/chat/completions", ""},
		{"POST", "/v1/messages", `{"model":"qwen3"}`, nil, "vllm", "/v1/messages", ""},
		{"POST", "/v1/chat/completions", `{"model":"glm-5"}`, nil, "glm", "/v1/chat/completions", "Bearer own"},
		{"POST", "/v1/responses", `{"model":"gpt-5"}`, []string{"Chatgpt-Account-Id", "a"}, "chatgpt", "/backend-api/codex/responses", "Bearer sk-1"},
		{"GET", "/v1/models", "", []string{"Chatgpt-Account-Id", "a"}, "chatgpt", "/backend-api/codex/models", "Bearer sk-1"},
		{"POST", "/v1/messages", `{"model":"claude"}`, nil, "anthropic", "/v1/messages", "Bearer sk-1"},
	} {
		got, where = &http.Request{URL: &url.URL{}}, ""
		res, text := sendBody(t, w, c.method, c.path, c.body, append([]string{"Authorization", "Bearer sk-1"}, c.header...)...)
		if bearer := got.Header.Get("Authorization"); where != c.where || got.URL.Path != c.arrives || bearer != c.bearer {
			t.Errorf("%s %s %s arrives at %q as %q with %q, want %q, %q, %q (%d %s)", c.method, c.path, c.body,
				where, got.URL.Path, bearer, c.where, c.arrives, c.bearer, res.StatusCode, text)
		}
	}
}

// No credential goes to a server that is not its own: not the token of a login to that of keys, and no key of
// Anthropic's to OpenAI.
func TestCredentialsOfOthersStayHere(t *testing.T) {
	up, err := url.Parse("http://127.0.0.1:1/v1")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{OpenAI: up}, engine.Options{})
	for _, header := range [][]string{
		{"Authorization", "Bearer eyJ", "Chatgpt-Account-Id", "a"},
		{"Authorization", "Bearer sk-ant-oat01-x"},
	} {
		if res, text := send(t, w, "POST", "/v1/chat/completions", header...); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: status %d %s", header, res.StatusCode, text)
		}
	}
	if res, _ := send(t, w, "GET", "/v1/responses", "Upgrade", "websocket", "Connection", "Upgrade"); res.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a socket is answered %d", res.StatusCode)
	}
}
