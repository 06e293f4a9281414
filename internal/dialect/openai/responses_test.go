package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	sdkresponses "github.com/openai/openai-go/v3/responses"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/testing/dialecttest"
)

func TestResponses(t *testing.T) {
	dialecttest.Run(t, dialecttest.Sample{
		Dialect: Responses{}, Bodies: responsesBodies(t), Doors: responsesDoors, Answers: responsesAnswers(t),
		Refusals: responsesRefusals, ReadError: readResponsesError,
	})
}

func responsesBodies(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	for name, path := range map[string]string{
		"session": filepath.Join("..", "..", "..", "wire", "testdata", "bodies", "responses-session.json"),
		"codex":   filepath.Join("testdata", "codex.json"),
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	out["text"] = []byte(`{"model":"gpt-6.2-sol","instructions":"Be brief.","input":"Hello \"you\"."}`)
	out["items"] = []byte(`{"model":"gpt-6.2-sol","max_output_tokens":900,"tools":[{"type":"function","name":"f","parameters":{}}],
		"input":[{"role":"developer","content":"a"},{"role":"user","content":[{"type":"input_text","text":"b"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]},
		{"type":"compaction","id":"cmp_1","encrypted_content":"s"},{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"c","annotations":[]}]},
		{"role":"assistant","content":"d"},{"type":"web_search_call","id":"ws_1","status":"completed"},
		{"type":"configuration_update","reasoning":{"effort":"high"}},{"role":"user","content":[]},
		{"type":"local_shell_call","call_id":"c1","action":{"type":"exec","command":["ls"]}},{"type":"local_shell_call_output","call_id":"c1","output":"x"},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},{"type":"function_call","call_id":"c2","name":"f","arguments":"{"},
		{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"y"}]},{"type":"something_new","x":1},{"role":"user","content":"z"}]}`)
	return out
}

var responsesDoors = []dialecttest.Door{
	{
		Method: "POST", Path: "/v1/responses",
		Want: dialect.Door{Kind: dialect.Prompt, Name: "responses", Route: "/v1/responses"},
	},
	{
		Method: "POST", Path: "/responses", // Codex with a login
		Want: dialect.Door{Kind: dialect.Prompt, Name: "responses", Route: "/v1/responses"},
	},
	{
		Method: "POST", Path: "/v1/responses/input_tokens",
		Want: dialect.Door{Kind: dialect.Count, Name: "input_tokens", Route: "/v1/responses/input_tokens"},
	},
	{Method: "GET", Path: "/v1/responses"},
	{Method: "GET", Path: "/v1/responses/resp_1"},
	{Method: "POST", Path: "/v1/responses/compact"},
	{Method: "POST", Path: "/v1/chat/completions"},
	{Method: "POST", Path: "/v1/messages"},
}

// answerOf writes an answer in both forms: output items in pieces, and the response as a whole.
func answerOf(t *testing.T, end string, items ...string) dialecttest.Answer {
	var b strings.Builder
	n := 0
	event := func(kind, members string) {
		if members != "" {
			members = "," + members
		}
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d%s}\n\n", kind, kind, n, members)
		n++
	}
	event("response.created", `"response":{"id":"resp_1","status":"in_progress","output":[]}`)
	event("response.in_progress", `"response":{"id":"resp_1","status":"in_progress","output":[]}`)
	for i, it := range items {
		event("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":{"type":"message"}`, i))
		var x struct {
			Arguments string
			Content   []struct{ Text string }
		}
		if err := json.Unmarshal([]byte(it), &x); err != nil {
			t.Fatal(err)
		}
		for text := x.Arguments; len(text) > 0; text = text[min(5, len(text)):] {
			event("response.function_call_arguments.delta", fmt.Sprintf(`"output_index":%d,"delta":%q`, i, text[:min(5, len(text))]))
		}
		for _, p := range x.Content {
			event("response.output_text.delta", fmt.Sprintf(`"output_index":%d,"content_index":0,"delta":%q`, i, p.Text))
		}
		event("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, it))
	}
	object := `{"id":"resp_1","object":"response",` + end + `,"output":[` + strings.Join(items, ",") + `],"usage":{"input_tokens":1000,
		"input_tokens_details":{"cached_tokens":600,"cache_write_tokens":300,"cache_write_tokens_details":{"ttl_30m_tokens":100,"ttl_12h_tokens":200}},
		"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":1050}}`
	_, kind, _ := strings.Cut(end, `"status":"`)
	kind, _, _ = strings.Cut(kind, `"`)
	event("response."+kind, `"response":`+strings.ReplaceAll(object, "\n", " "))
	return dialecttest.Answer{Stream: []byte(b.String()), Object: []byte(object)}
}

const (
	thought = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`
	called  = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\":\"\\\"b\\\"\"}","status":"completed"}`
	spoken  = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"Done: ä\n","annotations":[]}]}`
)

func responsesAnswers(t *testing.T) map[string]dialecttest.Answer {
	return map[string]dialecttest.Answer{
		"Text":       answerOf(t, `"status":"completed","incomplete_details":null`, spoken),
		"Calls":      answerOf(t, `"status":"completed"`, thought, called, strings.ReplaceAll(called, "_1", "_2")),
		"Incomplete": answerOf(t, `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`, thought, spoken),
	}
}

// What was read from the cache and written to it is part of the input: each token counts once.
func TestResponsesUsage(t *testing.T) {
	a := Responses{}.ReadAnswer(func(int) bool { return true })
	a.Object(answerOf(t, `"status":"completed"`, spoken).Object)
	want := decant.Usage{Input: 100, CacheRead: 600, CacheWrite: 300, Write1h: 200, Output: 50}
	if got := a.Answer().Usage; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

var responsesRefusals = []dialecttest.Refusal{
	{
		Status: 400, Body: []byte(`{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`),
		Want: dialect.Refusal{Topic: dialect.Size},
	},
	{Status: 413, Body: []byte("<html>Request Entity Too Large</html>"), Want: dialect.Refusal{Topic: dialect.Size}},
	{
		Status: 400, Body: []byte(`{"error":{"message":"The encrypted content gAAA... could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`),
		Want: dialect.Refusal{Topic: dialect.Thinking},
	},
	{Status: 400, Body: []byte(`{"error":{"message":"No tool output found for function call call_1.","type":"invalid_request_error","param":"input","code":null}}`)},
	{Status: 401, Body: []byte(`{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`)},
}

// readResponsesError reads an error with the official client.
func readResponsesError(t *testing.T, status int, body []byte) (string, bool) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(body) // a client that is gone needs no answer
	}))
	defer srv.Close()
	c := sdk.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("key"), option.WithMaxRetries(0))
	_, err := c.Responses.New(t.Context(), sdkresponses.ResponseNewParams{
		Model: "x", Input: sdkresponses.ResponseNewParamsInputUnion{OfString: sdk.String("Hello.")},
	})
	var e *sdk.Error
	if !errors.As(err, &e) || e.StatusCode != status || e.Type == "" {
		return fmt.Sprint(err), false
	}
	return e.Message, true
}

func TestSessionOfResponses(t *testing.T) {
	for _, c := range []struct{ members, want string }{
		{`"prompt_cache_key":"thread"`, "thread"},
		{`"prompt_cache_key":"` + strings.Repeat("x", 300) + `"`, ""},
		{`"user":"alice"`, ""},
	} {
		doc, err := Responses{}.Parse([]byte(`{` + c.members + `,"input":"Hello."}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := (Responses{}).Session(doc); got != c.want {
			t.Errorf("%.40s: session %q, want %q", c.members, got, c.want)
		}
	}
}

// A request is not managed when the provider alone has some of its conversation.
func TestWhatOnlyTheProviderHasIsNotManaged(t *testing.T) {
	for _, c := range []struct {
		members string
		managed bool
	}{
		{`"input":"a","previous_response_id":"resp_1"`, false},
		{`"input":"a","previous_response_id":null`, true},
		{`"input":"a","conversation":{"id":"conv_1"}`, false},
		{`"input":"a","prompt":{"id":"pmpt_1"}`, false},
		{`"input":[{"type":"item_reference","id":"rs_1"},{"role":"user","content":"a"}]`, false},
		{`"input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[]},{"type":"item_reference","id":"fc_1"}]`, false},
		{`"input":[{"role":"user","content":"what is an item_reference?"}]`, true},
	} {
		if _, err := (Responses{}).Parse([]byte(`{"model":"x",` + c.members + `}`)); (err == nil) != c.managed {
			t.Errorf("%s: %v, want that it is managed: %t", c.members, err, c.managed)
		}
	}
}

func TestEditsOfResponses(t *testing.T) {
	for members, want := range map[string]dialect.Edits{
		`"truncation":"auto"`:     dialect.Clearing,
		`"truncation":"disabled"`: dialect.NoEdits,
		`"context_management":[{"type":"compaction","compact_threshold":200000}]`: dialect.Compaction,
	} {
		doc, err := Responses{}.Parse([]byte(`{"input":"a",` + members + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := (Responses{}).Edits(doc); got != want {
			t.Errorf("%s: %d, want %d", members, got, want)
		}
	}
}

// An item is the same with and without what the provider and the client have put on it for themselves.
func TestIdentityOfItems(t *testing.T) {
	for _, same := range [][]string{
		{spoken, `{"role":"assistant","content":"Done: ä\n"}`, `"Done: ä\n"`, `{"type":"input_text","text":"Done: ä\n"}`, `{"type":"output_text","text":"Done: ä\n","annotations":[],"logprobs":[]}`},
		{called, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"a\":\"\\\"b\\\"\"}"}`},
		{`{"type":"function_call_output","call_id":"c","output":"x"}`, `{"type":"function_call_output","id":"fco_1","call_id":"c","output":[{"type":"input_text","text":"x"}]}`},
	} {
		for _, s := range same {
			if (Responses{}).Identity([]byte(s)) != (Responses{}).Identity([]byte(same[0])) {
				t.Errorf("%s is another block than %s", s, same[0])
			}
		}
	}
	if (Responses{}).Identity([]byte(called)) == (Responses{}).Identity([]byte(strings.Replace(called, "call_1", "call_2", 1))) {
		t.Error("two calls have one identity")
	}
}
