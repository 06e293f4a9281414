package openai_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/openai"
	"github.com/decantdev/decant/testing/dialecttest"
	"github.com/decantdev/decant/testing/sandbox"
)

func TestChat(t *testing.T) {
	dialecttest.Run(t, dialecttest.Sample{
		Dialect: openai.Chat{}, Bodies: chatBodies(t), Doors: chatDoors, Answers: chatAnswers(t), Refusals: refusals(),
		ReadError: readError,
	})
}

// chatBodies returns a request of a real conversation, and one with everything that there is.
func chatBodies(t *testing.T) map[string][]byte {
	dialog, err := os.ReadFile(filepath.Join("..", "..", "..", "wire", "testdata", "bodies", "chat-airline.json"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"dialog": dialog, "all": []byte(everything)}
}

// everything is a request with messages of all forms.
const everything = `{"model":"gpt-5.5","max_completion_tokens":900,"prompt_cache_key":"k1","stream":true,
"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],"messages":[
{"role":"developer","content":"Be brief."},{"role":"system","content":[{"type":"text","text":"And kind."}]},
{"role":"user","name":"eva","content":[{"type":"text","text":"What is in \"a\\b\"?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
{"role":"assistant","reasoning_content":"It wants a look.","content":"I look.","tool_calls":[
 {"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":\"a\"}"}},
 {"id":"c2","type":"custom","custom":{"name":"shell","input":"ls"}}]},
{"role":"tool","tool_call_id":"c1","content":"a file"},
{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"a\nb"}]},
{"role":"developer","content":"From now on in French."},
{"role":"assistant","content":null,"refusal":"I cannot say."},
{"role":"user","content":"Why not?"},
{"role":"assistant","content":null,"function_call":{"name":"old","arguments":"{}"}},
{"role":"function","name":"old","content":"done"},
{"role":"user","content":"Thanks."}]}`

var chatDoors = []dialecttest.Door{
	{Method: "POST", Path: "/v1/chat/completions", Want: dialect.Door{Kind: dialect.Prompt, Name: "chat_completions", Route: "/v1/chat/completions"}},
	{Method: "POST", Path: "/chat/completions", Want: dialect.Door{Kind: dialect.Prompt, Name: "chat_completions", Route: "/v1/chat/completions"}},
	{Method: "GET", Path: "/v1/chat/completions", Want: dialect.Door{Kind: dialect.Unmanaged, Name: "openai"}},
	{Method: "POST", Path: "/v1/embeddings", Want: dialect.Door{Kind: dialect.Unmanaged, Name: "openai"}},
	{Method: "POST", Path: "/v1/moderations", Want: dialect.Door{Kind: dialect.Free, Name: "openai"}},
	{Method: "POST", Path: "/v1/files"}, // without a key it may be anybody's
	{Method: "POST", Path: "/v1/messages"},
	{Method: "GET", Path: "/v1/models"},
}

// chatAnswers returns answers of the sandbox, each as it streams and as it comes in one piece, and one of a server
// that says what its model thought.
func chatAnswers(t *testing.T) map[string]dialecttest.Answer {
	out := map[string]dialecttest.Answer{"Reasoning": {
		Stream: []byte(`data: {"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"Let me"}}]}

data: {"choices":[{"index":0,"delta":{"reasoning_content":" see."}}]}

data: {"choices":[{"index":0,"delta":{"content":"Four."}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_cache_hit_tokens":5}}

data: [DONE]

`),
		Object: []byte(`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","reasoning":"Let me see.","content":"Four."}}],
			"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":5}}}`),
	}}
	const tools = `"tools":[{"type":"function","function":{"name":"Bash","parameters":{"type":"object"}}}],`
	for name, fields := range map[string]string{"Text": "", "Calls": tools} {
		out[name] = dialecttest.Answer{
			Stream: complete(t, fields+`"stream":true,"stream_options":{"include_usage":true},`), Object: complete(t, fields),
		}
	}
	return out
}

// complete returns the sandbox's answer to a request with some fields.
func complete(t *testing.T, fields string) []byte {
	t.Helper()
	body := fmt.Sprintf(`{"model":"local",%s"messages":[{"role":"user","content":"Look at \"a\\b\": ä %s"}]}`, fields, strings.Repeat("more ", 2000))
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s := sandbox.New(sandbox.Options{Model: &sandbox.Rules{Calls: 3, Parallel: 3}, Local: []string{"local"}})
	if s.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// refusals returns refusals as servers of the API write them.
func refusals() []dialecttest.Refusal {
	message := func(text string) []byte {
		b, err := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error", "code": nil}})
		if err != nil {
			panic(err)
		}
		return b
	}
	size := func(tokens, window, output int) dialect.Refusal {
		return dialect.Refusal{Topic: dialect.Size, Tokens: tokens, Window: window, Output: output}
	}
	out := []dialecttest.Refusal{
		{Status: 400, Body: []byte(`{"error":{"message":"Your input is large.","code":"context_length_exceeded"}}`), Want: size(0, 0, 0)},
		{Status: 413, Body: []byte("<html>Request Entity Too Large</html>"), Want: size(0, 0, 0)},
		{Status: 400, Body: []byte(`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`), Want: size(5000, 4096, 0)},
		{Status: 400, Body: []byte(`{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`), Want: size(5000, 4096, 0)},
		{Status: 400, Body: []byte(`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","code":400}`), Want: size(4000, 4096, 1000)},
		{Status: 400, Body: []byte(`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.\"}}"}}}`), Want: size(5000, 4096, 0)},
		{Status: 400, Body: message("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")},
		{Status: 400, Body: message("Rate limit reached: 30000 tokens per minute, reduce the length of the messages")},
		{Status: 401, Body: message("Incorrect API key provided.")},
		{Status: 503, Body: message("The server is overloaded.")},
	}
	for text, want := range map[string]dialect.Refusal{
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.":                                                                 size(130000, 128000, 0),
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens (129000 in the messages, 1000 in the functions).":                                                           size(130000, 128000, 0),
		"Your input exceeds the context window of this model. Please adjust your input and try again.":                                                                                                                      size(0, 0, 0),
		"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (130000 of text input, 8000 of tool input, 2000 in the output). Please reduce the length of either one.":       size(138000, 131072, 2000),
		"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (5000 > 4096 - 1000).":                                       size(1000, 4096, 5000),
		"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.":                                                    size(5000, 4096, 0),
		"You passed 5000 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens. Please reduce the length of the input.": size(5000, 4096, 100),
		"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it":                                                                                                                         size(5000, 4096, 0),
		"prompt too long; exceeded max context length by 123 tokens":                                                                                                                                                        size(0, 0, 0),
		"input length exceeds maximum context length": size(0, 0, 0),
		"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input": size(0, 0, 0),
		"`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`":                                                                 size(5000, 4096, 20),
		"Input (5000 tokens) is longer than the model's context length (4096 tokens).":                                                                                            size(5000, 4096, 0),
		"The input token count (5000) exceeds the maximum number of tokens allowed (4096).":                                                                                       size(5000, 4096, 0),
		"Prompt has 5000 tokens, but the configured context size is 4096 tokens":                                                                                                  size(5000, 4096, 0),
		"This model's maximum prompt length is 4096 but the request contains 5000 tokens.":                                                                                        size(5000, 4096, 0),
		"invalid params, context window exceeds limit (2013)":                                                                                                                     size(0, 0, 0),
		"Your request exceeded model token limit: 4096 (requested: 5000)":                                                                                                         size(5000, 4096, 0),
	} {
		out = append(out, dialecttest.Refusal{Status: 400, Body: message(text), Want: want})
	}
	return out
}

// readError reads an error with the official client.
func readError(t *testing.T, status int, body []byte) (string, bool) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(body) // a client that is gone needs no answer
	}))
	defer srv.Close()
	c := sdk.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("key"), option.WithMaxRetries(0))
	_, err := c.Chat.Completions.New(t.Context(), sdk.ChatCompletionNewParams{Model: "x", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("Hello.")}})
	var e *sdk.Error
	if !errors.As(err, &e) || e.StatusCode != status || e.Type == "" {
		return fmt.Sprint(err), false
	}
	return e.Message, true
}
