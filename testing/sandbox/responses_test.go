package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/decantdev/decant/testing/sandbox"
)

const (
	boundModel = "gpt-6.2-sol" // reasoning behind a changed prefix is taken out
	freeModel  = "gpt-5.5"
)

// respond asks with or without a stream, and checks the grammar of the stream.
func respond(t *testing.T, c openai.Client, p responses.ResponseNewParams, stream bool) (*responses.Response, error) {
	t.Helper()
	if !stream {
		return c.Responses.New(t.Context(), p)
	}
	events := c.Responses.NewStreaming(t.Context(), p)
	defer events.Close()
	var last *responses.Response
	streamed, names := map[string]string{}, []string{}
	for n := int64(0); events.Next(); n++ {
		e := events.Current()
		if names = append(names, e.Type); e.SequenceNumber != n {
			t.Errorf("event %d, %s, has the number %d", n, e.Type, e.SequenceNumber)
		}
		if strings.HasSuffix(e.Type, ".delta") {
			streamed[e.ItemID] += e.Delta
		}
		switch e.Type {
		case "error":
			return nil, errors.New(e.Message)
		case "response.completed", "response.incomplete", "response.failed":
			last = &e.Response
		}
	}
	if events.Err() != nil || last == nil {
		return nil, errors.Join(events.Err(), errors.New("the stream has no end"))
	}
	if len(names) < 3 || names[0] != "response.created" || names[1] != "response.in_progress" {
		t.Errorf("events %q", names)
	}
	if last.Status == "failed" {
		return last, errors.New(string(last.Error.Code) + ": " + last.Error.Message)
	}
	for _, it := range last.Output {
		want := it.Arguments.OfString
		if it.Type == "custom_tool_call" {
			want = it.Input
		}
		for _, part := range it.Content {
			want += part.Text + part.Refusal
		}
		if it.Type != "reasoning" && it.Type != "compaction" && streamed[it.ID] != want {
			t.Errorf("%s was streamed as %q, and is %q", it.Type, streamed[it.ID], want)
		}
	}
	return last, nil
}

// again returns the items of an answer as items of the next input.
func again(r *responses.Response) (out []responses.ResponseInputItemUnionParam) {
	for _, it := range r.Output {
		out = append(out, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(it.RawJSON())))
	}
	return out
}

// itemsOf returns items that are given as JSON.
func itemsOf(texts ...string) (out []responses.ResponseInputItemUnionParam) {
	for _, s := range texts {
		out = append(out, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(s)))
	}
	return out
}

func userItem(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text)
}

var responseTools = []responses.ToolUnionParam{
	responses.ToolParamOfFunction("bash", map[string]any{"type": "object"}, false),
	{OfCustom: &responses.CustomToolParam{Name: "exec"}},
}

// A responder plays turns and sends back what it got.
type respondent struct {
	t      *testing.T
	c      openai.Client
	stream bool
	p      responses.ResponseNewParams
	last   *responses.Response
}

func newRespondent(t *testing.T, url, model string, stream bool) *respondent {
	r := &respondent{t: t, c: chatClient(url), stream: stream}
	r.p = responses.ResponseNewParams{
		Model: model, Store: openai.Bool(false), Tools: responseTools, PromptCacheKey: openai.String("one"),
		Reasoning: shared.ReasoningParam{Summary: "auto"},
		Include:   []responses.ResponseIncludable{"reasoning.encrypted_content"},
	}
	return r
}

// turn says something, and answers calls until the model is done.
func (r *respondent) turn(text string) {
	r.t.Helper()
	r.p.Input.OfInputItemList = append(r.p.Input.OfInputItemList, itemsOf(userItem(text))...)
	for calls := 1; calls > 0; {
		var err error
		if r.last, err = respond(r.t, r.c, r.p, r.stream); err != nil {
			r.t.Fatal(err)
		}
		r.p.Input.OfInputItemList = append(r.p.Input.OfInputItemList, again(r.last)...)
		calls = 0
		for _, it := range r.last.Output {
			if it.CallID != "" {
				calls++
				r.p.Input.OfInputItemList = append(r.p.Input.OfInputItemList, itemsOf(fmt.Sprintf(`{"type":%q,"call_id":%q,"output":"result of %s %s"}`, it.Type+"_output", it.CallID, it.CallID, long(300)))...)
			}
		}
	}
}

// The official client plays turns with reasoning and calls of two kinds, with and without streams, and sends back what
// it got; the beginning of the prompt is read from the cache, and nothing is taken out.
func TestOfficialClientResponds(t *testing.T) {
	for _, model := range []string{boundModel, freeModel} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(model, "/Stream=", stream), func(t *testing.T) {
				s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 4, Parallel: 2, Thought: 200}, Chunk: 7})
				r := newRespondent(t, url, model, stream)
				thoughts := 0
				for turn := range 3 {
					r.turn(fmt.Sprintf("turn %d, grüße 世界 %s", turn, long(900)))
					for _, it := range r.last.Output {
						if it.Type == "reasoning" {
							thoughts++
							if it.EncryptedContent == "" || len(it.Summary) != 1 || !strings.HasPrefix(it.ID, "rs_") {
								t.Errorf("reasoning %s", it.RawJSON())
							}
						}
					}
				}
				u := r.last.Usage
				d := u.InputTokensDetails
				if u.TotalTokens != u.InputTokens+u.OutputTokens || d.CachedTokens < 1024 || d.CachedTokens+d.CacheWriteTokens > u.InputTokens || u.OutputTokensDetails.ReasoningTokens == 0 || thoughts == 0 {
					t.Errorf("%d thoughts, usage %s", thoughts, u.RawJSON())
				}
				if charges := model == boundModel; charges != (d.CacheWriteTokens > 0) {
					t.Errorf("usage %s", u.RawJSON())
				}
				if strings.Contains(r.last.RawJSON(), "input_transformations") || len(s.Log.Refused()) > 0 {
					t.Errorf("%s, %+v", r.last.RawJSON(), s.Log.Refused())
				}
				if e := s.Log.Last(); e.Dropped != 0 || e.Usage.CacheRead != int(d.CachedTokens) || e.Stop != "completed" {
					t.Errorf("logged %+v", e)
				}
			})
		}
	}
}

const (
	itemUser  = `{"role":"user","content":"hello"}`
	itemDone  = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`
	itemCall  = `{"type":"function_call","call_id":"c1","name":"bash","arguments":"{}"}`
	itemOut   = `{"type":"function_call_output","call_id":"c1","output":"ok"}`
	itemProg  = `{"type":"program","id":"p0","call_id":"p1","code":"x","fingerprint":"f"}`
	itemInner = `{"type":"function_call","call_id":"c1","name":"bash","arguments":"{}","caller":{"type":"program","caller_id":"p1"}}`
)

// call and output of every kind that comes in pairs.
var pairs = map[string][2]string{
	"function call":    {itemCall, itemOut},
	"custom tool call": {`{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"ls"}`, `{"type":"custom_tool_call_output","call_id":"c1","output":[{"type":"input_text","text":"ok"}]}`},
	"local shell call": {`{"type":"local_shell_call","id":"lsh_1","call_id":"c1","status":"completed","action":{"type":"exec","command":["ls"],"env":{}}}`, `{"type":"local_shell_call_output","call_id":"c1","output":"ok"}`},
	"shell call":       {`{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}}`, `{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"ok","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`},
	"apply patch call": {`{"type":"apply_patch_call","call_id":"c1","status":"completed","operation":{"type":"delete_file","path":"a"}}`, `{"type":"apply_patch_call_output","call_id":"c1","status":"completed"}`},
	"computer call":    {`{"type":"computer_call","call_id":"c1","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"}`, `{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"https://x"}}`},
	"tool search call": {`{"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{"q":"x"}}`, `{"type":"tool_search_output","call_id":"c1","execution":"client","tools":[]}`},
}

// askFor sends an input as it is.
func askFor(t *testing.T, url, path, fields string, items ...string) answer {
	t.Helper()
	return do(t, "POST", url+path, `{"model":"`+boundModel+`",`+fields+`"input":[`+strings.Join(items, ",")+`]}`, "authorization", "Bearer key", "x-api-key", "")
}

// checkRefusal checks that an answer refuses with a text, or accepts when there is none.
func checkRefusal(t *testing.T, got answer, text, param string) {
	t.Helper()
	var e struct {
		Error struct{ Message, Type, Param string }
	}
	if err := json.Unmarshal([]byte(got.body), &e); err != nil {
		t.Fatal(err)
	}
	if (got.status == 200) != (text == "") || !strings.Contains(e.Error.Message, text) || e.Error.Param != param || text != "" && e.Error.Type != "invalid_request_error" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestPairsOfItems(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	for name, pair := range pairs {
		t.Run(strings.ReplaceAll(name, " ", ""), func(t *testing.T) {
			call, out := pair[0], pair[1]
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, call, out), "", "")
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, call, itemUser, out, itemDone), "", "")
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, call), "No tool output found for "+name+" c1.", "input")
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, out), "No tool call found for "+name+" output with call_id c1.", "input")
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, out, call), "No tool call found for "+name+" output", "input")
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, call, out, out), "No tool call found for "+name+" output", "input")
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, call, strings.Replace(out, "c1", "c2", 1)), "No tool call found for "+name+" output with call_id c2.", "input")
			checkRefusal(t, askFor(t, url, "/v1/responses", "", itemUser, call, out, call, out), "Duplicate", "input")
		})
	}
}

func TestRulesOfItems(t *testing.T) {
	s, url := start(t, sandbox.Options{Window: 3000})
	for _, r := range []struct {
		name, fields string
		items        []string
		text, param  string
	}{
		{name: "Plain", items: []string{itemUser}},
		{name: "ShellAnsweredAsFunction", items: []string{itemUser, pairs["local shell call"][0], itemOut}},
		{name: "AnswerOfAnotherKind", items: []string{itemUser, itemCall, pairs["custom tool call"][1]}, text: "No tool call found for custom tool call output with call_id c1.", param: "input"},
		{name: "AsyncIsUnanswered", items: []string{itemUser, strings.Replace(itemCall, `"name"`, `"async":true,"name"`, 1), itemDone}},
		{name: "SearchOfTheServer", items: []string{itemUser, `{"type":"tool_search_call","execution":"server","arguments":{}}`, `{"type":"tool_search_output","execution":"server","tools":[]}`, itemDone}},
		{name: "ProgramWaits", items: []string{itemUser, itemProg, itemInner, itemOut}},
		{name: "ProgramEnds", items: []string{itemUser, itemProg, itemInner, itemOut, `{"type":"program_output","id":"o","call_id":"p1","result":"x","status":"completed"}`, itemDone}},
		{name: "ProgramEndsWithoutBeginning", items: []string{itemUser, `{"type":"program_output","id":"o","call_id":"p1","result":"x","status":"completed"}`}, text: "No tool call found for program output with call_id p1.", param: "input"},
		{name: "CallerIsMissing", items: []string{itemUser, itemInner, itemOut}, text: "No program found for function call with caller_id p1.", param: "input"},
		{name: "CallInAProgramUnanswered", items: []string{itemUser, itemProg, itemInner}, text: "No tool output found for function call c1.", param: "input"},
		{name: "Configures", items: []string{`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f","parameters":{}}]}`, itemUser, `{"type":"configuration_update","reasoning":{"effort":"low"}}`}},
		{name: "ToolsOfTheUser", items: []string{`{"type":"additional_tools","role":"user","tools":[]}`}, text: "Invalid value: 'user'. Supported values are: 'developer'.", param: "input[0].role"},
		{name: "UnknownType", items: []string{`{"type":"thought"}`}, text: "Invalid value: 'thought'. Supported values are: 'additional_tools', ", param: "input[0]"},
		{name: "UnknownMember", items: []string{itemUser, strings.Replace(itemDone, `"role"`, `"decant":1,"role"`, 1)}, text: "Unknown parameter: 'input[1].decant'.", param: "input[1].decant"},
		{name: "MissingMember", items: []string{`{"type":"function_call_output","call_id":"c1"}`}, text: "Missing required parameter: 'input[0].output'.", param: "input[0].output"},
		{name: "WrongType", items: []string{strings.Replace(itemCall, `"{}"`, `{}`, 1)}, text: "Invalid type for 'input[0].arguments': expected a string", param: "input[0].arguments"},
		{name: "UserSaysOutput", items: []string{`{"role":"user","content":[{"type":"output_text","text":"x"}]}`}, text: "Invalid value: 'output_text'. Supported values are: 'input_text', ", param: "input[0].content[0]"},
		{name: "AssistantSaysInput", items: []string{`{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`}, text: "Supported values are: 'output_text', 'refusal'.", param: "input[0].content[0]"},
		{name: "UnknownRole", items: []string{`{"role":"tool","content":"x"}`}, text: "Invalid value: 'tool'.", param: "input[0].role"},
		{name: "UnknownPhase", items: []string{`{"role":"assistant","content":"x","phase":"last"}`}, text: "Invalid value: 'last'.", param: "input[0].phase"},
		{name: "WrongID", items: []string{strings.Replace(itemCall, `"name"`, `"id":"msg_1","name"`, 1), itemOut}, text: "Invalid 'input[0].id': 'msg_1'. Expected an ID that begins with 'fc'.", param: "input[0].id"},
		{name: "SameIDTwice", items: []string{`{"id":"msg_1","role":"user","content":"x"}`, `{"id":"msg_1","role":"user","content":"y"}`}, text: "Duplicate item found with id msg_1.", param: "input"},
		{name: "ReasoningLast", items: []string{itemUser, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`}, text: "Item 'rs_1' of type 'reasoning' was provided without its required following item.", param: "input"},
		{name: "ReasoningBeforeTheUser", items: []string{`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`, itemUser}, text: "without its required following item", param: "input"},
		{name: "ReasoningIsForged", items: []string{itemUser, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eHh4eHh4eHh4eHh4eHh4eHh4eHh4"}`, itemDone}, text: "The encrypted content for item rs_1 could not be verified.", param: "input"},
		{name: "ReasoningWithoutContent", items: []string{itemUser, `{"type":"reasoning","id":"rs_1","summary":[]}`, itemDone}, text: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", param: "input"},
		{name: "CompactionIsForged", items: []string{`{"type":"compaction","id":"cmp_1","encrypted_content":"abcd"}`, itemUser}, text: "could not be verified", param: "input"},
		{name: "TriggerNotLast", items: []string{itemUser, `{"type":"compaction_trigger"}`, itemUser}, text: "must be the last item", param: "input[1]"},
		{name: "Reference", items: []string{`{"type":"item_reference","id":"msg_9"}`}, text: "Item with id 'msg_9' not found.", param: "input"},
		{name: "UnknownField", fields: `"messages":[],`, items: []string{itemUser}, text: "Unknown parameter: 'messages'.", param: "messages"},
		{name: "UnknownResponse", fields: `"previous_response_id":"resp_0",`, items: []string{itemUser}, text: "Previous response with id 'resp_0' not found.", param: "previous_response_id"},
		{name: "ShortAnswer", fields: `"max_output_tokens":5,`, items: []string{itemUser}, text: "Expected a value >= 16, but got 5 instead.", param: "max_output_tokens"},
		{name: "Temperature", fields: `"temperature":0,`, items: []string{itemUser}, text: "Unsupported parameter: 'temperature' is not supported with this model.", param: "temperature"},
		{name: "EffortNone", fields: `"reasoning":{"effort":"none"},`, items: []string{itemUser}, text: "Unsupported value: 'none' is not supported with the 'gpt-6.2-sol' model.", param: "reasoning.effort"},
		{name: "Include", fields: `"include":["x"],`, items: []string{itemUser}, text: "Invalid value: 'x'.", param: "include[0]"},
		{name: "LowThreshold", fields: `"context_management":[{"type":"compaction","compact_threshold":999}],`, items: []string{itemUser}, text: "Expected a value >= 1000, but got 999 instead.", param: "context_management[0].compact_threshold"},
		{name: "TooLong", items: []string{userItem(long(4000))}, text: "Your input exceeds the context window of this model.", param: "input"},
		{name: "TooLongIsCut", fields: `"truncation":"auto",`, items: []string{itemUser, itemCall, strings.Replace(itemOut, "ok", long(4000), 1), itemUser}},
	} {
		t.Run(r.name, func(t *testing.T) {
			checkRefusal(t, askFor(t, url, "/v1/responses", r.fields, r.items...), r.text, r.param)
		})
	}
	if got := do(t, "POST", url+"/v1/responses", `{"model":"gpt-5"}`, "authorization", "Bearer key"); !strings.Contains(got.body, "One of \\\"input\\\"") {
		t.Error(got.body)
	}
	if got := do(t, "GET", url+"/v1/responses", "", "authorization", "Bearer key", "upgrade", "websocket", "connection", "upgrade"); got.status != 426 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if n := len(s.Log.Entries()); n < 30 {
		t.Errorf("%d entries are logged", n)
	}
}

// What is too long is refused before or behind the status, and official clients see an error.
func TestOverflowOfResponses(t *testing.T) {
	t.Parallel() // the client waits before it tries again
	for _, late := range []bool{false, true} {
		s, url := start(t, sandbox.Options{Window: 1000, LateOverflow: late})
		for _, stream := range []bool{false, true} {
			r := newRespondent(t, url, boundModel, stream)
			r.p.Input.OfString = openai.String(long(2000))
			_, err := respond(t, r.c, r.p, stream)
			var e *openai.Error
			switch refused := errors.As(err, &e); {
			case refused == (late && stream), refused && (e.StatusCode != 400 || e.Code != "context_length_exceeded"),
				!refused && !strings.Contains(fmt.Sprint(err), "context_length_exceeded: Your input exceeds the context window"):
				t.Errorf("late %v, stream %v: %v", late, stream, err)
			}
			if e := s.Log.Last(); e.Error == "" || e.Prompt < 1000 {
				t.Errorf("logged %+v", e)
			}
		}
	}
}

// Faults come in the words of this API.
func TestFaultsOfResponses(t *testing.T) {
	t.Parallel()
	s, url := start(t, sandbox.Options{})
	r := newRespondent(t, url, boundModel, true)
	r.p.Input.OfString = openai.String("hello")
	for _, tt := range []struct {
		kind   sandbox.FaultKind
		status int
		code   string
	}{{sandbox.FaultRateLimit, 429, "rate_limit_exceeded"}, {sandbox.FaultInternal, 500, "server_error"}, {sandbox.FaultOverloaded, 503, "server_error"}} {
		for _, stream := range []bool{false, true} {
			s.Inject(sandbox.Fault{Kind: tt.kind})
			_, err := respond(t, r.c, r.p, stream)
			var e *openai.Error
			if !errors.As(err, &e) || e.StatusCode != tt.status || e.Code != tt.code || (e.Response.Header.Get("Retry-After") != "") != (tt.status == 429) {
				t.Errorf("%s: %v", tt.kind, err)
			}
		}
	}
	for _, f := range []sandbox.Fault{{Kind: sandbox.FaultStreamError, After: 2}, {Kind: sandbox.FaultCut, After: 2}, {Kind: sandbox.FaultHalf}, {Kind: sandbox.FaultReset, After: 1}} {
		s.Inject(f)
		if m, err := respond(t, r.c, r.p, true); err == nil {
			t.Errorf("%+v: no error, %+v", f, m)
		}
	}
	s.Inject(sandbox.Fault{Kind: sandbox.FaultRateLimit}, sandbox.Fault{})
	if _, err := respond(t, chatClient(url, openaioption.WithMaxRetries(1)), r.p, true); err != nil {
		t.Errorf("retried: %v", err)
	}
}
