package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/archive"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// playDeltas lets the official client work on a task and send what is new alone. between is called between requests.
func playDeltas(t *testing.T, w *world, stored, sealed, stream bool, turns int, between func()) {
	t.Helper()
	p := responses.ResponseNewParams{
		Model: "gpt-5.5", Store: openai.Bool(stored), PromptCacheKey: openai.String("thread"), Instructions: openai.String("Be brief."),
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("bash", map[string]any{"type": "object"}, false), {OfCustom: &responses.CustomToolParam{Name: "exec"}}},
	}
	if sealed {
		p.Include = []responses.ResponseIncludable{"reasoning.encrypted_content"}
	}
	items := []responses.ResponseInputItemUnionParam{
		itemOf(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"Obey."}]}`),
		itemOf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"Do the work."}]}`),
	}
	for n := range turns {
		c := openai.NewClient(openaioption.WithBaseURL(w.url+"/v1"), openaioption.WithAPIKey("key"), openaioption.WithHTTPClient(w.client), openaioption.WithMaxRetries(0))
		p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
		r := respond(t, c, p, stream)
		p.PreviousResponseID, items = openai.String(r.ID), nil
		for _, it := range r.Output {
			if it.CallID != "" {
				items = append(items, itemOf(fmt.Sprintf(`{"type":%q,"call_id":%q,"output":%q}`, it.Type+"_output", it.CallID, output(n))))
			}
		}
		if len(items) == 0 {
			items = append(items, itemOf(`{"role":"user","content":"Go on."}`))
		}
		between()
	}
}

// A client that sends what is new alone has the same conversation as one that sends all of it: the upstream is sent a view,
// and what was said is in the archive.
func TestDeltasAreManagedAsWholeConversations(t *testing.T) {
	const window = 26_000
	for _, c := range []struct{ stored, sealed, stream, restarts bool }{
		{stored: true}, {stored: true, stream: true, sealed: true}, {stream: true}, {sealed: true, restarts: true}, {sealed: true, stream: true},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			turns := testkit.Depth(16, 60)
			o := engine.Options{Window: window, NoEarlyPours: true}
			w, s := newResponses(t, sandbox.Options{Window: window, Model: &sandbox.Rules{Calls: 1000}}, o)
			playDeltas(t, w, c.stored, c.sealed, c.stream, turns, func() {
				if c.restarts {
					w.restart(o)
				}
			})
			if n := poursAt(t, s, 0); n < 2 {
				t.Errorf("%d pours, want at least two", n)
			}
			for _, e := range s.Log.Entries() {
				if strings.Contains(string(e.Body), "previous_response_id") {
					t.Fatalf("request %d arrived as %.300s", e.Number, e.Body)
				}
			}
			if err := w.engine.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			cs, err := w.store.Conversations(t.Context(), store.Filter{})
			if err != nil || len(cs) != 1 || cs[0].Requests != turns || cs[0].Session != "thread" {
				t.Fatalf("%d conversations, %+v, %v", len(cs), cs, err)
			}
			tr, err := archive.ReadTranscript(t.Context(), w.store, cs[0].Key, store.Newest)
			if err != nil {
				t.Fatal(err)
			}
			body, err := tr.Verbatim(tr.Conversation)
			for n := range turns - 1 {
				if err != nil || !strings.Contains(string(body), strings.TrimSpace(output(n))[:20]) {
					t.Errorf("the archive lacks the result of turn %d: %v", n, err)
				}
			}
		})
	}
}

// restart puts another engine on the same database in place of the one that there is.
func (w *world) restart(o engine.Options) {
	w.t.Helper()
	w.engine.Close()
	patient(&o)
	e, err := engine.New(w.store, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine = e
	w.gateway.Use(e)
}

// respondTo asks for an answer to a request that is given as members, and returns its id.
func (w *world) respondTo(members string, header ...string) (res *http.Response, id string) {
	w.t.Helper()
	res, text := w.post(w.url, "/v1/responses", `{"model":"gpt-5.5",`+members+`}`, append([]string{"Authorization", "Bearer key"}, header...)...)
	var r struct {
		ID    string `json:"id"`
		Error *struct{ Code string }
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		w.t.Fatal(err)
	}
	if r.Error != nil {
		return res, r.Error.Code
	}
	return res, r.ID
}

// An answer may be gone on from more than once, and from an earlier one, and a text is an input.
func TestDeltasBranch(t *testing.T) {
	w, s := newResponses(t, sandbox.Options{}, engine.Options{})
	_, first := w.respondTo(`"input":"Hello."`)
	for _, say := range []string{"One.", "Another."} {
		_, next := w.respondTo(fmt.Sprintf(`"input":%q,"previous_response_id":%q`, say, first))
		res, id := w.respondTo(fmt.Sprintf(`"input":[{"role":"user","content":"And?"}],"previous_response_id":%q`, next))
		sent := string(s.Log.Last().Body)
		if res.StatusCode != http.StatusOK || id == "" || !strings.Contains(sent, "Hello.") || !strings.Contains(sent, say) || !strings.Contains(sent, "And?") ||
			strings.Contains(sent, "One.") && strings.Contains(sent, "Another.") {
			t.Errorf("%d %s, %s arrived", res.StatusCode, id, sent)
		}
	}
}

// Where nobody here knows the answer that a request goes on from, the provider may. Where it cannot be metered, its client
// is told what the provider would say.
func TestUnknownAnswers(t *testing.T) {
	const unknown = `"input":"And?","previous_response_id":"resp_0"`
	w, s := newResponses(t, sandbox.Options{}, engine.Options{})
	if res, code := w.respondTo(unknown); code != "previous_response_not_found" || res.StatusCode != http.StatusBadRequest || len(s.Log.Entries()) != 1 {
		t.Errorf("%d %s of %d requests", res.StatusCode, code, len(s.Log.Entries()))
	}
	w, s = newResponses(t, sandbox.Options{}, engine.Options{Budgets: []budget.Budget{{Per: "day", Tokens: 1_000_000}}})
	if res, code := w.respondTo(unknown); code != "previous_response_not_found" || res.StatusCode != http.StatusBadRequest || len(s.Log.Entries()) != 0 {
		t.Errorf("with a budget: %d %s of %d requests", res.StatusCode, code, len(s.Log.Entries()))
	}
	_, id := w.respondTo(`"input":"Hello."`)
	if res, code := w.respondTo(fmt.Sprintf(`"input":"And?","previous_response_id":%q`, id)); res.StatusCode != http.StatusOK {
		t.Errorf("with a budget, of an answer that is known: %d %s", res.StatusCode, code)
	}
	for _, mode := range []string{"off", "observe"} { // they change nothing
		w, s := newResponses(t, sandbox.Options{}, engine.Options{})
		_, id := w.respondTo(`"input":"Hello."`)
		if w.respondTo(fmt.Sprintf(`"input":"And?","previous_response_id":%q`, id), "X-Decant-Mode", mode); !strings.Contains(string(s.Log.Last().Body), "previous_response_id") {
			t.Errorf("%s: %s arrived", mode, s.Log.Last().Body)
		}
	}
}

// What one tenant was told another cannot go on from.
func TestDeltasAreOfOneTenant(t *testing.T) {
	s := sandbox.New(sandbox.Options{})
	up := httptest.NewServer(s)
	t.Cleanup(up.Close)
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{OpenAI: base, Keys: keys}, engine.Options{})
	_, id := w.respondTo(`"store":false,"input":"My secret."`, "X-Decant-Key", aliceKey)
	for _, c := range []struct {
		key    string
		status int
	}{{bobKey, http.StatusBadRequest}, {aliceKey, http.StatusOK}} {
		res, code := w.respondTo(fmt.Sprintf(`"store":false,"input":"And?","previous_response_id":%q`, id), "X-Decant-Key", c.key)
		if knows := strings.Contains(string(s.Log.Last().Body), "My secret."); res.StatusCode != c.status || knows != (c.status == http.StatusOK) {
			t.Errorf("%s: %d %s, the secret arrived: %t", c.key, res.StatusCode, code, knows)
		}
	}
}

// The official client of the Messages API works in a thread: it sends system prompt and tools once, and what is new alone.
func TestThreadsAreManagedAsWholeConversations(t *testing.T) {
	const window, beta = 26_000, "message-threads-2026-08-12"
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("Stream=%t", stream), func(t *testing.T) {
			turns := testkit.Depth(16, 60)
			s := sandbox.New(sandbox.Options{Window: window, Model: &sandbox.Rules{Calls: 1000}})
			w := newWorld(t, s, gateway.Options{}, engine.Options{Window: window, NoEarlyPours: true})
			c, thread := w.sdk(), any(map[string]string{"type": "create"})
			p := anthropic.BetaMessageNewParams{
				Model: "claude-opus-4-6", MaxTokens: 1000, Betas: []anthropic.AnthropicBeta{beta},
				System: []anthropic.BetaTextBlockParam{{Text: "Obey."}},
				Tools:  []anthropic.BetaToolUnionParam{{OfTool: &anthropic.BetaToolParam{Name: "bash", InputSchema: anthropic.BetaToolInputSchemaParam{Properties: map[string]any{}}}}},
			}
			say := []anthropic.BetaContentBlockParamUnion{anthropic.NewBetaTextBlock("Do the work.")}
			for n := range turns {
				p.Messages = []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(say...)}
				m := threaded(t, c, p, thread, stream)
				thread = map[string]string{"type": "continue", "previous_message_id": m.ID}
				p.System, p.Tools, say = nil, nil, nil
				for _, b := range m.Content {
					if b.Type == "tool_use" {
						say = append(say, anthropic.NewBetaToolResultBlock(b.ID, output(n), false))
					}
				}
				if say == nil {
					say = append(say, anthropic.NewBetaTextBlock("Go on."))
				}
			}
			if n := poursAt(t, s, 0); n < 2 {
				t.Errorf("%d pours, want at least two", n)
			}
			w.engine.Close()
			cs, err := w.store.Conversations(t.Context(), store.Filter{})
			if err != nil || len(cs) != 1 || cs[0].Requests != turns {
				t.Fatalf("%d conversations, %+v, %v", len(cs), cs, err)
			}
		})
	}
}

// threaded asks for an answer in a thread, streamed or not.
func threaded(t *testing.T, c anthropic.Client, p anthropic.BetaMessageNewParams, thread any, stream bool) *anthropic.BetaMessage {
	t.Helper()
	in := option.WithJSONSet("thread", thread)
	if !stream {
		m, err := c.Beta.Messages.New(t.Context(), p, in)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	s, m := c.Beta.Messages.NewStreaming(t.Context(), p, in), &anthropic.BetaMessage{}
	defer s.Close()
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return m
}

// A thread that nobody knows here is the provider's. Where it cannot be metered, its client is told to begin a new one.
func TestUnknownThreads(t *testing.T) {
	const whole, unknown = `{"model":"claude-opus-4-6","max_tokens":10,"messages":[{"role":"user","content":"Hi."}]}`,
		`{"model":"claude-opus-4-6","max_tokens":10,"messages":[{"role":"user","content":"Hi."}],"thread":{"type":"continue","previous_message_id":"msg_0"}}`
	s := sandbox.New(sandbox.Options{})
	w := newWorld(t, s, gateway.Options{}, engine.Options{})
	w.post(w.url, "/v1/messages", whole)
	if res, text := w.post(w.url, "/v1/messages", unknown); res.Header.Get("X-Decant-Conversation") != "" || string(s.Log.Last().Body) != unknown {
		t.Errorf("%d %s, %s arrived in %s", res.StatusCode, text, s.Log.Last().Body, res.Header.Get("X-Decant-Conversation"))
	}
	// One that names no message is the provider's to refuse, and so is one that says nothing.
	for _, odd := range []string{strings.Replace(unknown, "previous_message_id", "previous_id", 1), `{"model":"claude-opus-4-6","max_tokens":10,"thread":{"type":"create"}}`} {
		w.post(w.url, "/v1/messages", odd)
		if sent := string(s.Log.Last().Body); sent != odd && !json.Valid([]byte(sent)) || strings.Contains(odd, "previous_id") && sent != odd {
			t.Errorf("%s arrived for %s", sent, odd)
		}
	}
	w = newWorld(t, s, gateway.Options{}, engine.Options{Budgets: []budget.Budget{{Per: "day", Tokens: 1_000_000}}})
	if res, text := w.post(w.url, "/v1/messages", unknown); res.StatusCode != http.StatusNotFound || !strings.Contains(text, `"error_code":"thread_not_found"`) {
		t.Errorf("with a budget: %d %s", res.StatusCode, text)
	}
}
