package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// chatWorld is a gateway in front of a sandbox that plays a local server with a window.
func chatWorld(t *testing.T, window int) (*world, *sandbox.Server, openai.Client) {
	t.Helper()
	s := sandbox.New(sandbox.Options{Local: []string{"local"}, Window: window, Model: &sandbox.Rules{Calls: 40}})
	up := httptest.NewServer(s)
	t.Cleanup(up.Close)
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{OpenAI: base}, engine.Options{})
	c := openai.NewClient(openaioption.WithBaseURL(w.url+"/v1"), openaioption.WithAPIKey("sk-local"), openaioption.WithHTTPClient(w.client), openaioption.WithMaxRetries(0))
	return w, s, c
}

// The official client works for sixty turns with a model of which nothing is known, on a window that the server's
// first refusal tells: nothing is refused, and the conversation is poured time and again.
func TestChatSession(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream=", stream), func(t *testing.T) {
			w, s, c := chatWorld(t, 24_000)
			p := openai.ChatCompletionNewParams{
				Model: "local",
				Messages: []openai.ChatCompletionMessageParamUnion{
					openai.DeveloperMessage("You work."), openai.UserMessage("Do the work, and keep out of /etc/secret."),
				},
				Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
					Name: "Bash", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}}},
				})},
			}
			for n := range testkit.Depth(32, 60) {
				if n == 5 {
					p.Messages = append(p.Messages, openai.DeveloperMessage("From now on in French."))
				}
				m := complete(t, c, p, stream && n%2 == 0)
				p.Messages = append(p.Messages, m.ToParam())
				for _, call := range m.ToolCalls {
					p.Messages = append(p.Messages, openai.ToolMessage(output(n), call.ID))
				}
				if len(m.ToolCalls) == 0 {
					p.Messages = append(p.Messages, openai.UserMessage("Go on."))
				}
			}
			if log := w.logged(); strings.Contains(log, "usage_prompt=0") {
				t.Error("an answer without usage is not counted")
			}
			pours, last := poursOf(t, w), string(s.Log.Last().Body)
			for _, fixed := range []string{"You work.", "From now on in French.", "keep out of /etc/secret"} {
				if !strings.Contains(last, fixed) {
					t.Errorf("%q is gone", fixed)
				}
			}
			refused := len(s.Log.Refused())
			if pours < testkit.Depth(2, 4) || refused > 1 {
				t.Errorf("%d pours, the server has refused %d requests; want more pours and only the refusal that tells the window\n%.3000s", pours, refused, w.logged())
			}
		})
	}
}

// poursOf returns from how many pours the decisions about the only conversation of a world come.
func poursOf(t *testing.T, w *world) int {
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

// complete asks for an answer, and fails the test where the client gets none.
func complete(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams, stream bool) openai.ChatCompletionMessage {
	t.Helper()
	if !stream {
		a, err := c.Chat.Completions.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return a.Choices[0].Message
	}
	var a openai.ChatCompletionAccumulator
	s := c.Chat.Completions.NewStreaming(t.Context(), p)
	for s.Next() {
		if !a.AddChunk(s.Current()) {
			t.Fatalf("a chunk does not fit: %s", s.Current().RawJSON())
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return a.Choices[0].Message
}

// A request that needs no change arrives as the same bytes.
func TestChatBytes(t *testing.T) {
	var got string
	up := httptest.NewServer(handler(func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		_, _ = fmt.Fprint(&b, r.Header.Get("Authorization"), " ")
		buf := make([]byte, 1<<16)
		n, _ := r.Body.Read(buf)
		got = b.String() + string(buf[:n])
	}))
	defer up.Close()
	base, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{OpenAI: base}, engine.Options{})
	const body = "{ \"model\" :\"m\",\n\"messages\":[ {\"role\":\"user\",\"content\":\"a\\u00e4\"}] , \"stream_options\":null}"
	if res, text := w.post(w.url, "/v1/chat/completions", body, "Authorization", "Bearer any"); res.StatusCode != 200 || got != "Bearer any "+body {
		t.Errorf("status %d %s, %q arrived", res.StatusCode, text, got)
	}
}
