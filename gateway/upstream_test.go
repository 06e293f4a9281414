package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/store"
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
		OpenAI: at("openai", "/v1"), MaxBody: 1 << 20,
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
		{"POST", "/v1/messages", `{"model":"qwen3"`, nil, "", "", ""}, // it cannot be read, so nobody knows whose it is
		{"POST", "/v1/chat/completions", `qwen3`, []string{"Content-Encoding", "br"}, "", "", ""},
		{"POST", "/openrouter/v1/messages", `{"model":`, nil, "openrouter", "/api/v1/messages", "Bearer sk-1"},
	} {
		got, where = &http.Request{URL: &url.URL{}}, ""
		res, text := sendBody(t, w, c.method, c.path, c.body, append([]string{"Authorization", "Bearer sk-1"}, c.header...)...)
		if bearer := got.Header.Get("Authorization"); where != c.where || got.URL.Path != c.arrives || bearer != c.bearer {
			t.Errorf("%s %s %s arrives at %q as %q with %q, want %q, %q, %q (%d %s)", c.method, c.path, c.body,
				where, got.URL.Path, bearer, c.where, c.arrives, c.bearer, res.StatusCode, text)
		}
	}
	where = ""
	res, text := sendBody(t, w, "POST", "/v1/messages", `{"model":"qwen3","x":"`+strings.Repeat("x", 1<<20)+`"}`)
	if where != "" || res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(text, "body_limit") {
		t.Errorf("a body that is too large to be read arrives at %q: %d %s", where, res.StatusCode, text)
	}
}

// A server that the client has not chosen gets no credential of the client's, wherever that stands, and what it needs to
// answer.
func TestModelRowsGetNoCredential(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(handler(func(_ http.ResponseWriter, r *http.Request) { got = r }))
	defer s.Close()
	up, err := url.Parse(s.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{Routes: []gateway.Route{
		{URL: up, Model: "qwen*"}, {URL: up, Model: "glm*", Key: "own"},
	}}, engine.Options{})
	for model, bearer := range map[string]string{"qwen3": "", "glm-5": "Bearer own"} {
		header := []string{
			"User-Agent", "agent", "Content-Type", "application/json", "Openai-Beta", "b", "X-Stainless-Lang", "js",
			"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Decant-Session", "mine",
		}
		for _, name := range []string{
			"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "X-Custom-Token", "X-Forwarded-For", "Ocp-Apim-Subscription-Key",
		} {
			header = append(header, name, "secret")
		}
		res, text := sendBody(t, w, "POST", "/v1/chat/completions?key=secret", `{"model":"`+model+`","messages":[{"role":"user","content":"Hi."}]}`, header...)
		if res.StatusCode != http.StatusOK || got.URL.RawQuery != "" || got.Header.Get("Authorization") != bearer {
			t.Errorf("%s: %d %s, %v arrived with %v", model, res.StatusCode, text, got.URL, got.Header)
		}
		for name, values := range got.Header {
			if strings.Contains(values[0], "secret") {
				t.Errorf("%s: %s arrived", model, name)
			}
		}
		for _, name := range []string{"User-Agent", "Content-Type", "Openai-Beta", "X-Stainless-Lang", "Traceparent"} {
			if got.Header.Get(name) == "" {
				t.Errorf("%s: no %s arrived", model, name)
			}
		}
	}
	w.engine.Close()
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) == 0 || cs[0].Session != "mine" {
		t.Errorf("%d conversations, %+v, %v; want that the session is known", len(cs), cs, err)
	}
}

// A server for some models works where all other requests of its API are refused, each for its own reason.
func TestModelsOpenAClosedDoor(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(handler(func(_ http.ResponseWriter, r *http.Request) { got = r }))
	defer s.Close()
	vllm, err := url.Parse(s.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	none, err := url.Parse("http://127.0.0.1:1/v1")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]struct {
		openAI *url.URL
		header []string
		why    string
	}{
		"Off":       {nil, nil, "turned off here"},
		"Login":     {none, []string{"Authorization", "Bearer eyJ", "Chatgpt-Account-Id", "a"}, "ChatGPT login"},
		"Anthropic": {none, []string{"Authorization", "Bearer sk-ant-x"}, "key of Anthropic's"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, http.NotFoundHandler(), gateway.Options{
				OpenAI: o.openAI, Routes: []gateway.Route{{URL: vllm, Model: "qwen*"}},
			}, engine.Options{})
			for path, body := range map[string]string{
				"/v1/chat/completions": `{"model":"qwen3"}`, "/v1/responses": `{"model":"qwen3"}`, "/v1/responses/input_tokens": `{"model":"qwen3"}`,
			} {
				got = nil
				res, text := sendBody(t, w, "POST", path, body, o.header...)
				if res.StatusCode != http.StatusOK || got == nil || got.URL.Path != path || got.Header.Get("Authorization") != "" {
					t.Errorf("%s: %d %s, %v arrived", path, res.StatusCode, text, got)
				}
			}
			for _, body := range []string{"", `{"model":"gpt-5"}`, `{"model":"qwen3"`} {
				got = nil
				why := o.why
				if body == `{"model":"qwen3"` {
					why = "cannot be read"
				}
				res, text := sendBody(t, w, "POST", "/v1/chat/completions", body, o.header...)
				if res.StatusCode != http.StatusBadRequest || got != nil || !strings.Contains(text, why) || res.Header.Get("X-Should-Retry") != "false" {
					t.Errorf("%q: %d %s, %v arrived", body, res.StatusCode, text, got)
				}
			}
			if res, _ := send(t, w, "POST", "/v1/embeddings", o.header...); o.openAI == nil && res.StatusCode != http.StatusBadRequest {
				t.Errorf("embeddings: %d", res.StatusCode)
			}
		})
	}
}

// No credential goes to a server that is not its own: not the token of a login to that of keys, no key of Anthropic's to
// OpenAI, and none of OpenAI's to Anthropic.
func TestCredentialsOfOthersStayHere(t *testing.T) {
	up, err := url.Parse("http://127.0.0.1:1/v1")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, handler(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s arrived with %v", r.URL, r.Header)
	}), gateway.Options{OpenAI: up}, engine.Options{})
	for _, header := range [][]string{
		{"Authorization", "Bearer sk-proj-x"}, {"Authorization", "Bearer sk-svcacct-x"}, {"Authorization", "Bearer sk-admin-x"},
		{"X-Api-Key", "sk-proj-x"}, {"Api-Key", "x"},
	} {
		for _, path := range []string{"/v2/models", "/v1/organizations/me", "/api/tokenize", "/"} {
			if res, text := send(t, w, "POST", path, header...); res.StatusCode != http.StatusBadGateway {
				t.Errorf("%s with %v: status %d %s", path, header, res.StatusCode, text)
			}
		}
	}
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
