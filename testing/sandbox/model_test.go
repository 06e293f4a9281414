package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/google/go-cmp/cmp"
)

// recording is the transcript of a conversation in which a call id is used twice.
func recording() *decant.Conversation {
	block := func(kind decant.Kind, text, id string) decant.Block {
		return decant.Block{Kind: kind, Content: decant.Text(text), CallID: id, Name: "Bash"}
	}
	return &decant.Conversation{Messages: []decant.Message{
		{Role: decant.RoleUser, Blocks: []decant.Block{block(decant.KindText, "list, then read", "")}},
		{Role: decant.RoleAssistant, Blocks: []decant.Block{block(decant.KindThinking, "list first", "")}},
		{Role: decant.RoleAssistant, Blocks: []decant.Block{block(decant.KindUse, `{"command":"ls"}`, "call_1")}},
		{Role: decant.RoleUser, Blocks: []decant.Block{block(decant.KindResult, "a.go", "call_1")}},
		{Role: decant.RoleAssistant, Blocks: []decant.Block{block(decant.KindUse, `{"command":"cat a.go"}`, "call_1")}},
		{Role: decant.RoleUser, Blocks: []decant.Block{block(decant.KindResult, "package a", "call_1")}},
		{Role: decant.RoleAssistant, Blocks: []decant.Block{block(decant.KindText, "It is package a.", "")}},
	}}
}

func TestScriptPlaysARecording(t *testing.T) {
	for _, count := range []bool{false, true} {
		for _, fields := range []string{adaptive, `"thinking":{"type":"enabled","budget_tokens":1024},`, ""} {
			script := sandbox.NewScript(recording())
			script.Count = count
			_, url := start(t, sandbox.Options{Model: script})
			k := &talk{t: t, url: url, model: "claude-opus-4-6", fields: fields + bash}
			k.turn("list, then read")
			if got := len(k.msgs); got != 6 {
				t.Fatalf("count %v: %d messages, want 6", count, got)
			}
			all := k.body()
			for _, want := range []string{`"id":"call_1","name":"Bash","input":{"command":"ls"}`, `"input":{"command":"cat a.go"}`, "It is package a."} {
				if strings.Count(all, want) != 1 {
					t.Errorf("count %v: %q is %d times in %s", count, want, strings.Count(all, want), all)
				}
			}
			if got, want := len(k.thoughts()) > 0, fields != ""; got != want {
				t.Errorf("count %v: thinking %v, want %v", count, got, want)
			}
			if !count {
				script.Seek(2)
			}
			k.turn("again")
			if want := map[bool]string{true: "The recording is over.", false: "It is package a."}[count]; !strings.Contains(k.last.body, want) {
				t.Errorf("count %v: %s, want %q", count, k.last.body, want)
			}
		}
	}
}

func TestRulesEndTheirTurns(t *testing.T) {
	for _, tt := range []struct {
		rules *sandbox.Rules
		want  []int // calls in each answer
	}{
		{&sandbox.Rules{}, []int{1, 0}},
		{&sandbox.Rules{Calls: -1}, []int{0}},
		{&sandbox.Rules{Calls: 3}, []int{1, 1, 1, 0}},
		{&sandbox.Rules{Calls: 5, Parallel: 2}, []int{2, 2, 1, 0}},
	} {
		_, url := start(t, sandbox.Options{Model: tt.rules})
		k := &talk{t: t, url: url, fields: bash}
		for turn := range 2 {
			var got []int
			k.add(say("go"))
			for {
				calls := k.ask()
				got = append(got, len(calls))
				if len(calls) == 0 {
					break
				}
				k.reply(calls, "done")
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("%d calls, %d at once, turn %d (-want +got):\n%s", tt.rules.Calls, tt.rules.Parallel, turn, d)
			}
		}
	}
}

func TestRulesRemember(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{}})
	k := &talk{t: t, url: url, fields: bash}
	k.turn("The port is 8080. Work.")
	k.turn("The port is 9090. Work.")
	k.turn("What is port?")
	if !strings.Contains(k.last.body, "port is 9090.") {
		t.Errorf("answer %s", k.last.body)
	}
	k.msgs = nil
	k.turn("What is port?")
	if !strings.Contains(k.last.body, "I do not know what port is.") {
		t.Errorf("answer %s", k.last.body)
	}
}

func TestRulesWithoutTools(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{}})
	k := &talk{t: t, url: url, model: "claude-sonnet-5"}
	k.turn("make a title out of these few words please")
	if !strings.Contains(k.last.body, `"Title: make a title out of these"`) {
		t.Errorf("answer %s", k.last.body)
	}
	k.fields = bash + `"tool_choice":{"type":"none"},`
	k.turn("and now")
	if strings.Contains(k.last.body, "tool_use") {
		t.Errorf("a call although tool_choice is none: %s", k.last.body)
	}
}

func TestRulesObeyToolChoice(t *testing.T) {
	tools := `"tools":[{"name":"Read","input_schema":{"type":"object"}},{"name":"Bash","input_schema":{"type":"object"}}],`
	for _, tt := range []struct{ choice, want string }{
		{`{"type":"auto"}`, "Bash Bash"},
		{`{"type":"auto","disable_parallel_tool_use":true}`, "Bash"},
		{`{"type":"tool","name":"Read"}`, "Read Read"},
		{`{"type":"none"}`, ""},
	} {
		_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2, Parallel: 2}})
		got := do(t, "POST", url+"/v1/messages", rule{model: "claude-sonnet-5", fields: tools + `"tool_choice":` + tt.choice + `,`}.body())
		var msg struct{ Content []struct{ Name string } }
		if err := json.Unmarshal([]byte(got.body), &msg); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, b := range msg.Content {
			if b.Name != "" {
				names = append(names, b.Name)
			}
		}
		if called := strings.Join(names, " "); called != tt.want {
			t.Errorf("%s: called %q, want %q", tt.choice, called, tt.want)
		}
	}
}

func TestStopSequence(t *testing.T) {
	script := &sandbox.Script{Count: true, Answers: []sandbox.Answer{{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "one two three"}, {Kind: decant.KindText, Text: "four"}}}}}
	_, url := start(t, sandbox.Options{Model: script})
	got := do(t, "POST", url+"/v1/messages", rule{fields: `"stop_sequences":["three","two"],`}.body())
	if want := `"content":[{"type":"text","text":"one "}],"stop_reason":"stop_sequence","stop_sequence":"two"`; !strings.Contains(got.body, want) {
		t.Errorf("got %s\nwant %s", got.body, want)
	}
}

// TestRequestOfClaudeCode sends what Claude Code sends: its headers, its fields in their order, its
// reminders and markers.
func TestRequestOfClaudeCode(t *testing.T) {
	s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	const session = "0b5f4a76-3c43-4b2e-9f6d-2f5a5f1f7c11"
	header := []string{
		"anthropic-beta", "claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24",
		"x-claude-code-session-id", session, "x-api-key", "", "authorization", "Bearer token", "anthropic-dangerous-direct-browser-access", "true", "x-app", "cli",
	}
	for _, tt := range []struct{ model, thinking string }{
		{old, `"max_tokens":32000,"thinking":{"budget_tokens":31999,"type":"enabled"},`},
		{"claude-sonnet-5-5", `"max_tokens":32000,` + adaptive + `"output_config":{"effort":"high"},`},
	} {
		k := &talk{t: t, url: url, model: tt.model, header: header, marks: true, fields: `"system":[` + words(30) + `,` + mark(words(20), "") + `,` + mark(words(2000), "") + `],` + bash +
			`"metadata":{"user_id":"{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"` + session + `\"}"},` + tt.thinking +
			`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},`}
		k.add(say("<system-reminder>\nnotes\n</system-reminder>"), say("do it"))
		if tt.model != old {
			k.msgs = append(k.msgs, message{Role: "system", Content: []string{say("reminders")}})
		}
		k.finish()
		k.add(say("more"))
		k.finish()
		if got := s.Log.Last(); got.Usage.CacheRead == 0 || got.Dropped != 0 || !strings.Contains(string(got.Answer), `"context_management":{"applied_edits":[]}`) {
			t.Errorf("%s: usage %+v, %d dropped, answer %s", tt.model, got.Usage, got.Dropped, got.Answer)
		}
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 5}})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			k := &talk{t: t, url: url, marks: true, fields: adaptive + bash, header: []string{"x-session-id", fmt.Sprint(i % 4), "x-api-key", fmt.Sprint(i)}}
			for range 3 {
				k.add(say("go"))
				for range 4 {
					calls := talkOnce(k)
					if len(calls) == 0 {
						break
					}
					k.reply(calls, "ok")
				}
				if last := k.msgs[len(k.msgs)-1]; last.Role == "user" {
					k.msgs = append(k.msgs, message{Role: "assistant", Content: []string{say("interrupted")}})
				}
			}
		})
	}
	all.Wait()
	if refused := s.Log.Refused(); len(refused) > 0 {
		t.Errorf("%d refused: %s", len(refused), refused[0].Error)
	}
}

// talkOnce is ask for goroutines other than the test's.
func talkOnce(k *talk) []string {
	if k.send() != 200 {
		return nil
	}
	return k.take()
}

// ExampleNew asks a sandbox for a message.
func ExampleNew() {
	srv := httptest.NewServer(sandbox.New(sandbox.Options{Model: &sandbox.Rules{}}))
	defer srv.Close()
	ask := func(body string) {
		req, _ := http.NewRequestWithContext(context.Background(), "POST", srv.URL+"/v1/messages", strings.NewReader(body))
		req.Header = http.Header{"X-Api-Key": {"any"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer res.Body.Close()
		answer, _ := io.ReadAll(res.Body)
		text := string(answer)
		if i := strings.Index(text, `"content"`); i >= 0 {
			text = text[i:strings.Index(text, `,"stop_sequence"`)]
		}
		fmt.Println(res.StatusCode, text)
	}
	ask(`{"model":"claude-sonnet-5","max_tokens":100,"messages":[{"role":"user","content":"Name a title for this."}]}`)
	ask(`{"model":"claude-sonnet-5","max_tokens":100,"messages":[{"role":"user","content":""}]}`)
	// Output:
	// 200 "content":[{"type":"text","text":"Title: Name a title for this."}],"stop_reason":"end_turn"
	// 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages.0: all messages must have non-empty content except for the optional final assistant message"},"request_id":"req_sandbox_000002"}
}
