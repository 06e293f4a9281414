package sandbox_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"pgregory.net/rapid"
)

// TestGrownConversationsAreAccepted is the property that everything else rests on: a conversation
// that a client grows by appending what the sandbox answered, in whatever form clients write it, is
// never refused; and neither is it when the client forgets thinking where that is allowed.
func TestGrownConversationsAreAccepted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := grower{rt}
		c := newClock()
		mode := rapid.SampledFrom([]struct{ model, fields string }{
			{newest, adaptive}, {newest, ""}, {"claude-sonnet-5-5", adaptive}, {"claude-opus-4-8", adaptive}, {"claude-opus-4-8", ""},
			{old, `"thinking":{"type":"enabled","budget_tokens":1024},`}, {old, ""}, {"claude-fable-5-1", adaptive},
		}).Draw(rt, "mode")
		s := sandbox.New(sandbox.Options{Model: g.script(), Now: c.Now})
		srv := httptest.NewServer(s)
		defer srv.Close()
		k := &talk{t: t, url: srv.URL, model: mode.model, fields: mode.fields + bash + g.system(), marks: rapid.Bool().Draw(rt, "marks")}
		for range rapid.IntRange(1, 6).Draw(rt, "turns") {
			k.add(g.userBlocks()...)
			g.forget(k)
			for {
				calls := g.ask(k)
				if len(calls) == 0 {
					break
				}
				k.msgs = append(k.msgs, g.results(calls))
				c.pass(time.Duration(rapid.IntRange(0, 400).Draw(rt, "seconds")) * time.Second)
			}
		}
	})
}

// A grower draws the parts of conversations.
type grower struct{ *rapid.T }

var someText = rapid.OneOf(
	rapid.StringMatching(`[a-z \n"\\]{1,40}[a-z]`),
	rapid.SampledFrom([]string{"grüße 世界", "\u0000x", "<|end|>", `{"a":1}`, "e\u0301 👩‍👩‍👧", strings.Repeat("long ", 400) + "."}),
)

// script returns a model that answers anything a model may answer, and ends every third turn at the latest.
func (g grower) script() *sandbox.Script {
	s := &sandbox.Script{}
	for i := range 30 {
		var a sandbox.Answer
		if rapid.Bool().Draw(g.T, "thinks") {
			a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindThinking, Text: someText.Draw(g.T, "thought"), Redact: rapid.Bool().Draw(g.T, "redact")})
		}
		if rapid.Bool().Draw(g.T, "speaks") {
			a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindText, Text: someText.Draw(g.T, "text")})
		}
		for range rapid.IntRange(0, 3).Draw(g.T, "calls") * min(1, i%3) {
			a.Blocks = append(a.Blocks, g.call())
		}
		a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindText, Text: "end"})
		if rapid.Bool().Draw(g.T, "interleaved") {
			a.Blocks = append(a.Blocks, sandbox.Block{Kind: decant.KindThinking, Text: "between"}, sandbox.Block{Kind: decant.KindText, Text: "x"})
		}
		s.Answers = append(s.Answers, a)
	}
	return s
}

func (g grower) call() sandbox.Block {
	input, err := json.Marshal(map[string]any{"command": someText.Draw(g.T, "command"), "n": rapid.Float64().Draw(g.T, "n"), "cache_control": nil})
	if err != nil {
		g.Fatal(err)
	}
	return sandbox.Block{Kind: decant.KindUse, ID: rapid.SampledFrom([]string{"", "call_1", "bad id", "toolu_x"}).Draw(g.T, "id"), Name: "Bash", Input: json.RawMessage(input)}
}

func (g grower) system() string {
	return `"system":` + rapid.SampledFrom([]string{`"be brief"`, `[` + mark(say("be brief"), "1h") + `]`, `[` + say("a") + `,` + say("b") + `]`, `null`}).Draw(g.T, "system") + `,`
}

func (g grower) userBlocks() []string {
	var out []string
	for range rapid.IntRange(1, 3).Draw(g.T, "user blocks") {
		out = append(out, say(someText.Draw(g.T, "words")))
	}
	if rapid.IntRange(0, 4).Draw(g.T, "image") == 0 {
		out = append(out, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`)
	}
	return out
}

// results answers calls, each in one of the forms that clients use.
func (g grower) results(calls []string) message {
	m := message{Role: "user"}
	for _, id := range calls {
		text, _ := json.Marshal(someText.Draw(g.T, "result"))
		form := rapid.SampledFrom([]string{
			`{"type":"tool_result","tool_use_id":%q,"content":%s}`,
			`{"content":[{"text":%[2]s,"type":"text"}],"type":"tool_result","tool_use_id":%[1]q,"is_error":false}`,
		}).Draw(g.T, "form")
		m.Content = append(m.Content, fmt.Sprintf(form, id, text))
	}
	if rapid.IntRange(0, 3).Draw(g.T, "reminder") == 0 {
		m.Content = append(m.Content, say("a reminder of the client"))
	}
	return m
}

// forget removes thinking from the start, the end or everywhere, at the beginning of a turn.
func (g grower) forget(k *talk) {
	n := len(k.thoughts())
	if n == 0 || rapid.IntRange(0, 3).Draw(g.T, "forgets") > 0 {
		return
	}
	first, last := rapid.IntRange(0, n).Draw(g.T, "from start"), rapid.IntRange(0, n).Draw(g.T, "from end")
	var numbers []int
	for i := range n {
		if i < first || i >= n-last {
			numbers = append(numbers, i)
		}
	}
	k.without(numbers...)
	for i := len(k.msgs) - 1; i >= 0; i-- { // a message of nothing but thinking goes with it
		if len(k.msgs[i].Content) == 0 {
			k.msgs = append(k.msgs[:i], k.msgs[i+1:]...)
		}
	}
}

// ask sends the conversation and appends the answer, written anew with other keys first.
func (g grower) ask(k *talk) []string {
	if got := k.send(); got != 200 {
		g.Fatalf("message %d: %d %s\n%s", len(k.msgs), got, k.last.body, k.body())
	}
	var msg struct {
		Content []map[string]any
		Usage   usage
	}
	if err := json.Unmarshal([]byte(k.last.body), &msg); err != nil {
		g.Fatal(err)
	}
	m := message{Role: "assistant"}
	var calls []string
	for _, b := range msg.Content {
		raw, err := json.Marshal(b) // sorts keys and escapes differently, as clients do
		if err != nil {
			g.Fatal(err)
		}
		if b["type"] == "tool_use" {
			calls = append(calls, b["id"].(string))
		}
		m.Content = append(m.Content, string(raw))
	}
	k.msgs = append(k.msgs, m)
	return calls
}

// FuzzBody checks that no body makes the server fail: every one is answered or refused.
func FuzzBody(f *testing.F) {
	for _, r := range rules {
		f.Add(r.body(), r.beta)
	}
	for _, r := range thresholdRules() {
		f.Add(r.body(), cmp.Or(r.beta, edgeBeta))
	}
	_, url := start(f, sandbox.Options{})
	for _, r := range demandRules(signedBlock(f, url)) {
		f.Add(r.body(), cmp.Or(r.beta, demandBeta))
	}
	s := sandbox.New(sandbox.Options{LogSize: 1})
	f.Fuzz(func(t *testing.T, body, beta string) {
		r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body))
		r.Header = http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}, "Anthropic-Beta": {beta}}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch w.Code {
		case 200:
			if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
				t.Errorf("the answer is not JSON: %s", w.Body)
			}
		case 400, 404, 413:
			checkError(t, answer{w.Code, w.Header(), w.Body.String()}, w.Code, "")
		default:
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}

// FuzzChat is the same for the door of Chat Completions.
func FuzzChat(f *testing.F) {
	for _, body := range []string{
		`{"model":"gpt-4.1","messages":[` + chatUser + `]}`,
		`{"model":"gpt-5","stream":true,"stop":["a"],` + chatTools + `"messages":[` + chatUser + "," + chatCall + "," + chatTool + `]}`,
		`{"model":"gpt-4.1","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, `[]`, `{"model":1}`, `null`,
	} {
		f.Add(body)
	}
	s := sandbox.New(sandbox.Options{LogSize: 1})
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer k"}, "Content-Type": {"application/json"}}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 || strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}
