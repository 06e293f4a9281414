package gateway_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// newResponses starts a gateway in front of a server of the Responses API.
func newResponses(t *testing.T, o sandbox.Options, eo engine.Options) (*world, *sandbox.Server) {
	t.Helper()
	s := sandbox.New(o)
	up := httptest.NewServer(s)
	t.Cleanup(up.Close)
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	return newWorld(t, http.NotFoundHandler(), gateway.Options{OpenAI: base}, eo), s
}

// itemOf returns an item that is given as JSON.
func itemOf(item string) responses.ResponseInputItemUnionParam {
	return param.Override[responses.ResponseInputItemUnionParam](jsontext.Value(item))
}

// respond asks for an answer, streamed or not.
func respond(t *testing.T, c openai.Client, p responses.ResponseNewParams, stream bool) (out responses.Response) {
	t.Helper()
	if !stream {
		r, err := c.Responses.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return *r
	}
	s := c.Responses.NewStreaming(t.Context(), p)
	defer s.Close()
	for s.Next() {
		if e := s.Current(); e.Type == "response.completed" {
			out = e.Response
		}
	}
	if s.Err() != nil || out.Status != "completed" {
		t.Fatalf("the stream ends with %q, %v", out.Status, s.Err())
	}
	return out
}

// playResponses lets the official client work on a task: each call gets 6 KB of output, and tools come in an item, too.
func playResponses(t *testing.T, w *world, model string, stream bool, turns int) {
	t.Helper()
	c := openai.NewClient(openaioption.WithBaseURL(w.url+"/v1"), openaioption.WithAPIKey("key"), openaioption.WithHTTPClient(w.client), openaioption.WithMaxRetries(0))
	items := []responses.ResponseInputItemUnionParam{
		itemOf(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"Obey."}]}`),
		itemOf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"Do the work."}]}`),
	}
	for n := range turns {
		r := respond(t, c, responses.ResponseNewParams{
			Model: model, Store: openai.Bool(false), PromptCacheKey: openai.String("thread"), Include: []responses.ResponseIncludable{"reasoning.encrypted_content"},
			Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("bash", map[string]any{"type": "object"}, false), {OfCustom: &responses.CustomToolParam{Name: "exec"}}},
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items},
		}, stream)
		waits := false
		for _, it := range r.Output {
			items = append(items, itemOf(it.RawJSON()))
		}
		for _, it := range r.Output {
			if it.CallID != "" {
				waits = true
				items = append(items, itemOf(fmt.Sprintf(`{"type":%q,"call_id":%q,"output":%q}`, it.Type+"_output", it.CallID, output(n))))
			}
		}
		if !waits {
			items = append(items, itemOf(`{"role":"user","content":"Go on."}`))
		}
	}
}

// poursAt returns how often a prompt was smaller than the one before by a tenth, and complains of refusals.
func poursAt(t *testing.T, s *sandbox.Server, may int) (n int) {
	t.Helper()
	last := 0
	for _, e := range s.Log.Entries() {
		if e.Error != "" {
			if may--; may < 0 {
				t.Errorf("request %d refused: %s", e.Number, e.Error)
			}
			continue
		}
		if e.Prompt < last*9/10 {
			n++
		}
		last = e.Prompt
	}
	return n
}

func TestOfficialResponsesClientWorksPastTheWindow(t *testing.T) {
	for _, model := range []string{"gpt-5.5", "gpt-6.2-sol"} { // the second forgets what it thought behind a change
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/Stream=%t", model, stream), func(t *testing.T) {
				const window = 26_000
				w, s := newResponses(t, sandbox.Options{Window: window, Model: &sandbox.Rules{Calls: 1000}}, engine.Options{Window: window, NoEarlyPours: true})
				playResponses(t, w, model, stream, testkit.Depth(20, 60))
				if n, want := poursAt(t, s, 0), testkit.Depth(2, 3); n < want {
					t.Errorf("%d pours, want at least %d", n, want)
				}
			})
		}
	}
}

// A request that is refused in the stream of its answer, after status 200, is made smaller and sent again: the client
// sees the second answer alone.
func TestLateOverflowIsRecovered(t *testing.T) {
	const window = 26_000
	w, s := newResponses(t, sandbox.Options{Window: window, LateOverflow: true, Model: &sandbox.Rules{Calls: 1000}}, engine.Options{NoEarlyPours: true})
	playResponses(t, w, "gpt-5.5", true, testkit.Depth(14, 30))
	refused := len(s.Log.Refused())
	if poursAt(t, s, refused); refused == 0 {
		t.Error("nothing was too long, so that it tests nothing")
	}
}

// Bodies come compressed from a client with a login.
func TestCompressedResponses(t *testing.T) {
	w, s := newResponses(t, sandbox.Options{}, engine.Options{})
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"model":"gpt-5.5","store":false,"input":"Hello."}`
	res, text := w.post(w.url, "/v1/responses", string(z.EncodeAll([]byte(body), nil)), "Authorization", "Bearer key", "Content-Encoding", "zstd")
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Decant-Conversation") == "" || len(s.Log.Entries()) != 1 {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, text)
	}
}

// Real sessions of Codex pass the door request by request, on a window that is too small for them, and the server
// finds none that is against its rules. What they had thought is sealed for another server, so it is left out.
func TestCodexRollouts(t *testing.T) {
	dir := os.Getenv(dataEnv)
	if dir == "" {
		t.Skipf("set %s to the folder of recordings", dataEnv)
	}
	names, err := filepath.Glob(filepath.Join(dir, "codex", "*", "*.jsonl.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no rollouts: %v", err)
	}
	names = names[:min(len(names), testkit.Depth(2, len(names)))]
	const window = 40_000
	w, s := newResponses(t, sandbox.Options{Window: window, LogSize: 1 << 16}, engine.Options{Window: window})
	sent, smaller := 0, 0
	for k, name := range names {
		items := rollout(t, name)
		for n := range items {
			if n > 0 && speaks(items[n]) && !speaks(items[n-1]) {
				body, err := json.Marshal(map[string]any{"model": "gpt-5.5", "store": false, "prompt_cache_key": fmt.Sprint(k), "input": items[:n]})
				if err != nil {
					t.Fatal(err)
				}
				before := len(s.Log.Refused())
				res, text := w.post(w.url, "/v1/responses", string(body), "Authorization", "Bearer key")
				if res.StatusCode != http.StatusOK || len(s.Log.Refused()) > before {
					t.Fatalf("%s, %d items: status %d, %v, %.300s", filepath.Base(name), n, res.StatusCode, s.Log.Last().Error, text)
				}
				if sent++; len(s.Log.Last().Body) < len(body)*3/4 {
					smaller++
				}
			}
		}
	}
	if smaller == 0 {
		t.Error("nothing was made smaller")
	}
	t.Logf("%d sessions, %d requests, %d of them made smaller", len(names), sent, smaller)
}

// kindOf returns the type and the role of an item.
func kindOf(item jsontext.Value) (kind, role string) {
	var it struct {
		Type, Role string
	}
	if json.Unmarshal(item, &it, json.MatchCaseInsensitiveNames(true)) != nil {
		return "", ""
	}
	return it.Type, it.Role
}

// speaks reports whether an item is the model's.
func speaks(item jsontext.Value) bool {
	kind, role := kindOf(item)
	return role == "assistant" || strings.HasSuffix(kind, "_call")
}

// sentAs returns an item without what Codex writes into its file for itself.
func sentAs(t *testing.T, item jsontext.Value) jsontext.Value {
	t.Helper()
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(item, &members, jsontext.AllowInvalidUTF8(true)); err != nil {
		t.Fatal(err)
	}
	delete(members, "metadata")
	out, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rollout returns the items that a session file of Codex holds, without thinking and without calls that were given up.
func rollout(t *testing.T, name string) (out []jsontext.Value) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := jsontext.NewDecoder(z, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); ; {
		line, err := d.ReadValue()
		if err != nil {
			break
		}
		var l struct {
			Type    string         `json:"type"`
			Payload jsontext.Value `json:"payload"`
		}
		if err := json.Unmarshal(line, &l, jsontext.AllowInvalidUTF8(true)); err != nil || l.Type != "response_item" {
			continue
		}
		switch kind, _ := kindOf(l.Payload); kind {
		case "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output":
			out = append(out, sentAs(t, l.Payload))
		}
	}
	return slices.Clip(out)
}
