package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

const (
	chatModel = "gpt-4.1"
	chatUser  = `{"role":"user","content":"hello"}`
	chatTools = `"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}],`
	chatCall  = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{"}}]}`
	chatTool  = `{"role":"tool","tool_call_id":"c1","content":"ok"}`
)

// chatClient returns the official client for the door of Chat Completions.
func chatClient(url string, more ...openaioption.RequestOption) openai.Client {
	return openai.NewClient(append([]openaioption.RequestOption{
		openaioption.WithBaseURL(url + "/v1"), openaioption.WithAPIKey("key"), openaioption.WithMaxRetries(0),
	}, more...)...)
}

// complete asks with or without a stream.
func complete(t *testing.T, c openai.Client, p openai.ChatCompletionNewParams, stream bool) (*openai.ChatCompletion, error) {
	t.Helper()
	if !stream {
		return c.Chat.Completions.New(t.Context(), p)
	}
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	events := c.Chat.Completions.NewStreaming(t.Context(), p)
	defer events.Close()
	var acc openai.ChatCompletionAccumulator
	for events.Next() {
		if !acc.AddChunk(events.Current()) {
			return nil, errors.New("a chunk does not fit those before it")
		}
	}
	return &acc.ChatCompletion, events.Err()
}

// The official client plays turns with calls, with and without streams; the prompt's beginning is read from the cache.
func TestOfficialClientCompletes(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("Stream=", stream), func(t *testing.T) {
			s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 4, Parallel: 2}, Chunk: 7})
			p := openai.ChatCompletionNewParams{Model: chatModel, Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("be brief")}}
			p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "bash"})}
			calls, read := 0, int64(0)
			for turn := range 2 {
				p.Messages = append(p.Messages, openai.UserMessage(fmt.Sprintf("turn %d, grüße 世界 %s", turn, long(600))))
				for finish := ""; finish != "stop"; {
					m, err := complete(t, chatClient(url), p, stream)
					if err != nil {
						t.Fatal(err)
					}
					said := m.Choices[0].Message
					p.Messages = append(p.Messages, said.ToParam())
					for _, call := range said.ToolCalls {
						calls++
						if !json.Valid([]byte(call.Function.Arguments)) || !strings.HasPrefix(call.ID, "call_") {
							t.Errorf("call %+v", call)
						}
						p.Messages = append(p.Messages, openai.ToolMessage("result of "+call.ID, call.ID))
					}
					if finish = m.Choices[0].FinishReason; (finish == "tool_calls") != (len(said.ToolCalls) > 0) {
						t.Errorf("finish %q with %d calls", finish, len(said.ToolCalls))
					}
					u := m.Usage
					if u.TotalTokens != u.PromptTokens+u.CompletionTokens || u.PromptTokens < 600 || u.CompletionTokens == 0 {
						t.Errorf("usage %s", u.RawJSON())
					}
					read = u.PromptTokensDetails.CachedTokens
				}
			}
			if calls != 8 || read < 1024 {
				t.Errorf("%d calls, at last %d tokens read", calls, read)
			}
			e := s.Log.Last()
			if len(s.Log.Refused()) > 0 || e.Prompt == 0 || e.Usage.CacheRead != int(read) || e.Stop != "stop" || len(e.Body) == 0 || e.Header.Get("Authorization") != "[redacted]" {
				t.Errorf("logged %+v", e)
			}
		})
	}
}

func TestOfficialClientSeesErrorsOfCompletions(t *testing.T) {
	t.Parallel() // the client waits before it tries again
	s, url := start(t, sandbox.Options{Keys: []string{"key"}, Window: 1000})
	p := openai.ChatCompletionNewParams{Model: chatModel, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")}}
	check := func(name string, err error, status int, code, text string) {
		t.Helper()
		var e *openai.Error
		if !errors.As(err, &e) || e.StatusCode != status || e.Code != code || !strings.Contains(e.Message, text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, stream := range []bool{false, true} {
		_, err := complete(t, chatClient(url, openaioption.WithAPIKey("other")), p, stream)
		check("key", err, 401, "invalid_api_key", "Incorrect API key provided")
		s.Inject(sandbox.Fault{Kind: sandbox.FaultRateLimit})
		_, err = complete(t, chatClient(url), p, stream)
		check("rate", err, 429, "rate_limit_exceeded", "rate limit")
		s.Inject(sandbox.Fault{Kind: sandbox.FaultOverloaded})
		_, err = complete(t, chatClient(url), p, stream)
		check("overload", err, 503, "server_error", "Overloaded")
		big := p
		big.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage(long(2000))}
		_, err = complete(t, chatClient(url), big, stream)
		check("size", err, 400, "context_length_exceeded", "This model's maximum context length is 1000 tokens. However, your messages resulted in ")
		s.Inject(sandbox.Fault{Kind: sandbox.FaultRateLimit}, sandbox.Fault{})
		if _, err := complete(t, chatClient(url, openaioption.WithMaxRetries(1)), p, stream); err != nil {
			t.Errorf("retried: %v", err)
		}
	}
	for _, f := range []sandbox.Fault{{Kind: sandbox.FaultStreamError, After: 2}, {Kind: sandbox.FaultCut, After: 2}, {Kind: sandbox.FaultHalf}, {Kind: sandbox.FaultReset, After: 1}} {
		s.Inject(f)
		if m, err := complete(t, chatClient(url), p, true); err == nil {
			t.Errorf("%+v: no error, %+v", f, m)
		}
	}
}

func TestRulesOfCompletions(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for _, r := range []struct{ name, model, fields, messages, text, param string }{
		{name: "Plain"},
		{name: "Paired", fields: chatTools, messages: chatUser + "," + chatCall + "," + chatTool},
		{name: "TwoAnswers", fields: chatTools, messages: chatUser + "," + strings.Replace(chatCall, `[{`, `[{"id":"c0","type":"function","function":{"name":"bash","arguments":""}},{`, 1) + "," + chatTool + "," + strings.Replace(chatTool, "c1", "c0", 1)},
		{name: "CallUnanswered", messages: chatUser + "," + chatCall + "," + chatUser, text: "The following tool_call_ids did not have response messages: c1", param: "messages.[2].role"},
		{name: "CallLast", messages: chatUser + "," + chatCall, text: "must be followed by tool messages responding to each 'tool_call_id'", param: "messages.[2].role"},
		{name: "AnswerTooLate", messages: chatUser + "," + chatCall + "," + chatUser + "," + chatTool, text: "did not have response messages", param: "messages.[2].role"},
		{name: "AnswerWithoutCall", messages: chatUser + "," + chatTool, text: "must be a response to a preceeding message with 'tool_calls'", param: "messages.[1].role"},
		{name: "AnswerTwice", messages: chatUser + "," + chatCall + "," + chatTool + "," + chatTool, text: "preceeding message", param: "messages.[3].role"},
		{name: "CallTwice", messages: chatUser + "," + strings.Replace(chatCall, `[{`, `[{"id":"c1","type":"function","function":{"name":"bash","arguments":""}},{`, 1) + "," + chatTool, text: "Duplicate value", param: "messages.[1].tool_calls"},
		{name: "NoMessages", messages: " ", text: "empty array", param: "messages"},
		{name: "NullContent", messages: `{"role":"user","content":null}`, text: "expected a string, got null", param: "messages.[0].content"},
		{name: "Parts", messages: `{"role":"user","content":[{"type":"text","text":"hello"}]}`},
		{name: "UnknownRole", messages: `{"role":"robot","content":"x"}`, text: "Invalid value: 'robot'", param: "messages.[0].role"},
		{name: "UnknownField", fields: `"max_output_tokens":5,`, text: "Unknown parameter: 'max_output_tokens'", param: "max_output_tokens"},
		{name: "UnknownModel", model: "gpt-0", text: "The model `gpt-0` does not exist"},
		{name: "ModelOfAnother", model: newest, text: "does not exist"},
		{name: "OldLimit", fields: `"max_tokens":50,`},
		{name: "OldLimitOfReasoning", model: "gpt-5", fields: `"max_tokens":50,`, text: "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", param: "max_tokens"},
		{name: "Temperature", fields: `"temperature":0,`},
		{name: "TemperatureOfReasoning", model: "gpt-5", fields: `"temperature":0,`, text: "'temperature' does not support 0 with this model", param: "temperature"},
		{name: "ToolsWithReasoning", model: "gpt-6-sol", fields: chatTools, text: "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions.", param: "reasoning_effort"},
		{name: "ToolsWithoutReasoning", model: "gpt-6-sol", fields: chatTools + `"reasoning_effort":"none",`},
		{name: "TooLong", fields: `"max_completion_tokens":40000,`, text: "max_tokens is too large: 40000", param: "max_completion_tokens"},
		{name: "NoTokens", fields: `"max_completion_tokens":0,`, text: "at least 1", param: "max_completion_tokens"},
		{name: "TwoChoices", fields: `"n":2,`, text: "Invalid 'n'", param: "n"},
	} {
		t.Run(r.name, func(t *testing.T) {
			if r.model == "" {
				r.model = chatModel
			}
			if r.messages == "" {
				r.messages = chatUser
			}
			got := do(t, "POST", url+"/v1/chat/completions", `{"model":"`+r.model+`",`+r.fields+`"messages":[`+r.messages+`]}`, "authorization", "Bearer key", "x-api-key", "")
			var e struct {
				Error struct{ Message, Type, Param string }
			}
			if err := json.Unmarshal([]byte(got.body), &e); err != nil {
				t.Fatal(err)
			}
			if (got.status == 200) != (r.text == "") || !strings.Contains(e.Error.Message, r.text) || e.Error.Param != r.param || r.text != "" && e.Error.Type != "invalid_request_error" {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

// What a model says arrives in the terms of this API.
func TestAnswersOfCompletions(t *testing.T) {
	say := func(text string) sandbox.Answer {
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindThinking, Text: "Hm, let me see."}, {Kind: decant.KindText, Text: text}}}
	}
	for _, tt := range []struct {
		name, model, fields, finish, text string
		answer                            sandbox.Answer
	}{
		{"Plain", chatModel, "", "stop", "one two three", say("one two three")},
		{"Cut", chatModel, `"max_tokens":2,`, "length", "one tw", say("one two three")},
		{"Stop", chatModel, `"stop":["two"],`, "stop", "one ", say("one two three")},
		{"Reasoning", "gpt-5", "", "stop", "one", say("one")},
		{"Refusal", chatModel, "", "stop", "", sandbox.Answer{Stop: "refusal"}},
	} {
		_, url := start(t, sandbox.Options{Model: sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return tt.answer })})
		got := do(t, "POST", url+"/v1/chat/completions", `{"model":"`+tt.model+`",`+tt.fields+`"messages":[`+chatUser+`]}`, "authorization", "Bearer key")
		var m openai.ChatCompletion
		if err := json.Unmarshal([]byte(got.body), &m); err != nil || len(m.Choices) != 1 {
			t.Fatalf("%s: %s, %v", tt.name, got.body, err)
		}
		c := m.Choices[0]
		if c.FinishReason != tt.finish || c.Message.Content != tt.text || (c.Message.Refusal != "") != (tt.name == "Refusal") || (m.Usage.CompletionTokensDetails.ReasoningTokens > 0) != (tt.name == "Reasoning") {
			t.Errorf("%s: %s", tt.name, got.body)
		}
	}
}

// Models are listed by name; a server with models of its own wants no key.
func TestModelsOfCompletions(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	c := chatClient(url)
	pages := c.Models.ListAutoPaging(t.Context())
	seen := map[string]bool{}
	for pages.Next() {
		seen[pages.Current().ID] = true
	}
	if pages.Err() != nil || !seen["gpt-5"] || seen[newest] {
		t.Errorf("%v, %v", seen, pages.Err())
	}
	if m, err := c.Models.Get(t.Context(), "gpt-5"); err != nil || m.ID != "gpt-5" {
		t.Errorf("%+v, %v", m, err)
	}
	checkStatus := func(got answer, want int) {
		t.Helper()
		if got.status != want {
			t.Errorf("status %d, want %d: %s", got.status, want, got.body)
		}
	}
	const anonymous = "x-api-key"
	body := `{"model":"qwen3:8b","max_tokens":5,"temperature":0,"messages":[` + chatUser + `]}`
	checkStatus(do(t, "POST", url+"/v1/chat/completions", body, anonymous, ""), 401)
	_, url = start(t, sandbox.Options{Local: []string{"qwen3:8b"}})
	checkStatus(do(t, "POST", url+"/v1/chat/completions", body, anonymous, ""), 200)
	if got := do(t, "GET", url+"/v1/models", "", anonymous, "", "anthropic-version", ""); !strings.Contains(got.body, `"data":[{"id":"qwen3:8b",`) || strings.Contains(got.body, "gpt") {
		t.Error(got.body)
	}
}
