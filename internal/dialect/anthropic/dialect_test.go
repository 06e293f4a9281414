package anthropic

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/testing/dialecttest"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/wire"
)

func TestDialect(t *testing.T) {
	dialecttest.Run(t, dialecttest.Sample{
		Dialect: Dialect{}, Bodies: bodies(t), Doors: doors, Answers: answers(t), Refusals: refusals(t),
		Batch: batch(t), ReadError: readError,
	})
}

// bodies returns requests of real sessions, one of them as a request that thinks.
func bodies(t *testing.T) map[string][]byte {
	wires := filepath.Join("..", "..", "..", "wire", "testdata", "bodies")
	out := map[string][]byte{
		"session": read(t, filepath.Join(wires, "anthropic-session.json")),
		"large":   read(t, filepath.Join(wires, "anthropic-large.json.gz")),
	}
	doc, err := wire.Parse(read(t, filepath.Join("..", "..", "..", "testdata", "claude-code-session.jsonl.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if out["written"], err = wire.Encode(doc.Conversation, wire.Anthropic); err != nil {
		t.Fatal(err)
	}
	out["thinking"] = bytes.Replace(out["session"], []byte("{"), []byte(`{"thinking":{"type":"adaptive"},`), 1)
	return out
}

// read returns what a file holds, without compression.
func read(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var doors = []dialecttest.Door{
	{
		Method: "POST", Path: "/v1/messages",
		Want: dialect.Door{Kind: dialect.Prompt, Name: "messages", Route: "/v1/messages"},
	},
	{
		Method: "POST", Path: "/v1/messages/count_tokens",
		Want: dialect.Door{Kind: dialect.Count, Name: "count_tokens", Route: "/v1/messages/count_tokens"},
	},
	{Method: "POST", Path: "/v1/messages/batches", Want: dialect.Door{Kind: dialect.Batch}},
	{Method: "GET", Path: "/v1/messages/batches/b_1", Want: dialect.Door{Kind: dialect.BatchState, Batch: "b_1"}},
	{Method: "POST", Path: "/v1/messages/batches/b_1/cancel", Want: dialect.Door{Kind: dialect.BatchState, Batch: "b_1"}},
	{
		Method: "GET", Path: "/v1/messages/batches/b_1/results",
		Want: dialect.Door{Kind: dialect.BatchResults, Batch: "b_1"},
	},
	{Method: "POST", Path: "/v1/files", Want: dialect.Door{Kind: dialect.Free}},
	{Method: "POST", Path: "/v1/skills/s_1/versions", Want: dialect.Door{Kind: dialect.Free}},
	{Method: "GET", Path: "/v1/messages"},
	{Method: "POST", Path: "/v1/messages/"},
	{Method: "POST", Path: "/v1/messages/batches/"},
	{Method: "GET", Path: "/v1/messages/batches/"},
	{Method: "DELETE", Path: "/v1/messages/batches/b_1"},
	{Method: "GET", Path: "/v1/messages/batches/b_1/other"},
	{Method: "GET", Path: "/v1/messages/batches//results"},
	{Method: "GET", Path: "/v1/models"},
	{Method: "POST", Path: "/v1/complete"},
	{Method: "POST", Path: "/v1/chat/completions"},
	{Method: "POST", Path: "/v1/responses"},
}

// ask returns what a server answers to a request.
func ask(t *testing.T, h http.Handler, method, path, body string, header ...string) (int, []byte) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", "key")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// question is a request for an answer with thinking, text and calls.
const question = `{"model":"%s","max_tokens":9000,"stream":%t,%s"messages":[{"role":"user","content":"Look at \"a\\b\", please: ä\n%s"}]}`

// answers returns answers of the sandbox, each as it streams and as it comes in one piece.
func answers(t *testing.T) map[string]dialecttest.Answer {
	out := map[string]dialecttest.Answer{}
	for name, c := range map[string]struct{ model, fields string }{
		"Text":     {"claude-sonnet-4-5", ""},
		"Calls":    {"claude-sonnet-4-5", `"tools":[{"name":"Bash","description":"Runs.","input_schema":{"type":"object"}}],`},
		"Thinking": {"claude-opus-4-8", `"thinking":{"type":"adaptive"},"tools":[{"name":"Bash","description":"Runs.","input_schema":{"type":"object"}}],`},
		"Cached":   {"claude-sonnet-4-5", `"cache_control":{"type":"ephemeral","ttl":"1h"},`},
	} {
		var a dialecttest.Answer
		for _, stream := range []bool{true, false} {
			s := sandbox.New(sandbox.Options{Model: &sandbox.Rules{Calls: 3, Parallel: 3}})
			status, body := ask(t, s, "POST", "/v1/messages",
				fmt.Sprintf(question, c.model, stream, c.fields, strings.Repeat("more ", 2000)))
			if status != http.StatusOK {
				t.Fatalf("%s: %d %s", name, status, body)
			}
			if stream {
				a.Stream = body
			} else {
				a.Object = body
			}
		}
		out[name] = a
	}
	return out
}

// refusals returns refusals as the reference has them, and some of the sandbox's own.
func refusals(t *testing.T) []dialecttest.Refusal {
	message := func(text string) []byte {
		b, err := json.Marshal(map[string]any{
			"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": text},
		})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	out := []dialecttest.Refusal{
		{
			Status: 400, Body: message("prompt is too long: 210000 tokens > 200000 maximum"),
			Want: dialect.Refusal{Topic: dialect.Size, Tokens: 210000, Window: 200000},
		},
		{Status: 400, Body: message("Prompt is too long"), Want: dialect.Refusal{Topic: dialect.Size}},
		{Status: 400, Body: message("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"),
			Want: dialect.Refusal{Topic: dialect.Size, Tokens: 190000, Output: 20000, Window: 200000}},
		{
			Status: 400, Body: message("too many total text bytes: 9000001 > 9000000"),
			Want: dialect.Refusal{Topic: dialect.Size, Bytes: 9000000},
		},
		{
			Status: 400,
			Body:   message("messages.9.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"),
			Want:   dialect.Refusal{Topic: dialect.Size, Images: true},
		},
		{Status: 400, Body: message("messages.9.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels")},
		{Status: 413, Body: []byte("<html>Request Entity Too Large</html>"), Want: dialect.Refusal{Topic: dialect.Size}},
		{
			Status: 400,
			Body:   message("messages.1.content.0: thinking block is bound to a different conversation"),
			Want:   dialect.Refusal{Topic: dialect.Thinking, Bound: true},
		},
		{Status: 400, Body: message("messages.3.content.0: Invalid `signature` in `thinking` block"), Want: dialect.Refusal{Topic: dialect.Thinking}},
		{
			Status: 400, Body: message("context_management: Extra inputs are not permitted"),
			Want: dialect.Refusal{Topic: dialect.Editing},
		},
		{Status: 400, Body: message("messages: at least one message is required")},
		{Status: 401, Body: message("invalid x-api-key")},
		{Status: 529, Body: message("Overloaded")},
	}
	s := sandbox.New(sandbox.Options{Window: 1000})
	long := fmt.Sprintf(question, "claude-sonnet-4-5", false, "", strings.Repeat("more ", 20_000))
	status, body := ask(t, s, "POST", "/v1/messages", long)
	got := Dialect{}.ReadRefusal(status, body)
	if got.Topic != dialect.Size || got.Tokens < 10_000 || got.Window == 0 {
		t.Errorf("the sandbox refuses with %d %s, which is read as %+v", status, body, got)
	}
	status, body = ask(t, s, "POST", "/v1/messages", fmt.Sprintf(question, "claude-sonnet-4-5", false, `"context_management":{"edits":[]},`, ""))
	return append(out, dialecttest.Refusal{Status: status, Body: body, Want: dialect.Refusal{Topic: dialect.Editing}})
}

// batch returns a batch of two requests, of which one cannot be answered, and what the sandbox says to it.
func batch(t *testing.T) *dialecttest.Batch {
	const model = "claude-sonnet-4-5"
	one := func(id, model string) string {
		return fmt.Sprintf(`{"custom_id":"%s","params":{"model":"%s","max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}}`, id, model)
	}
	s := sandbox.New(sandbox.Options{})
	post := func(requests ...string) (id string, body, made []byte) {
		body = []byte(`{"requests":[` + strings.Join(requests, ",") + `]}`)
		status, made := ask(t, s, "POST", "/v1/messages/batches", string(body))
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, made)
		}
		var b struct{ ID string }
		if err := json.Unmarshal(made, &b, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		return b.ID, body, made
	}
	var out dialecttest.Batch
	out.ID, out.Body, out.Made = post(one("a", model), one("b", "claude-nonesuch-9"))
	_, out.Used = ask(t, s, "GET", "/v1/messages/batches/"+out.ID, "")
	_, out.Results = ask(t, s, "GET", "/v1/messages/batches/"+out.ID+"/results", "")
	out.Models = []string{model}
	failed, _, _ := post(one("a", "claude-nonesuch-9"))
	_, out.Unused = ask(t, s, "GET", "/v1/messages/batches/"+failed, "")
	return &out
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
	_, err := c.Messages.New(t.Context(), sdk.MessageNewParams{
		Model: "x", MaxTokens: 1, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Hello."))},
	})
	var e *sdk.Error
	if !errors.As(err, &e) || e.StatusCode != status || e.Type() == "" {
		return fmt.Sprint(err), false
	}
	var envelope struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(e.RawJSON()), &envelope); err != nil {
		return err.Error(), false
	}
	return envelope.Error.Message, true
}
