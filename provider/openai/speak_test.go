package openai_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/openai"
	"github.com/decantdev/decant/testing/sandbox"
)

// local returns a client of a sandbox that behaves as local servers do.
func local(t *testing.T, m sandbox.Model) (*sandbox.Server, *openai.Client) {
	t.Helper()
	s := sandbox.New(sandbox.Options{Model: m, Local: []string{"qwen"}})
	rt, stop := s.Pipe()
	t.Cleanup(stop)
	c, err := openai.New(openai.Options{Base: "http://sandbox/v1", Transport: rt})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// speaks says something, calls two tools, and then repeats what they have returned.
type speaks struct{}

func (speaks) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	if p.Answers() > 0 {
		var got []string
		for _, m := range p.Messages {
			for _, b := range m.Blocks {
				if b.Kind == decant.KindResult {
					got = append(got, b.Text)
				}
			}
		}
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: strings.Join(got, ", ")}}}, nil
	}
	return sandbox.Answer{Blocks: []sandbox.Block{
		{Kind: decant.KindText, Text: "I look at the two files that you name, and then I tell you."},
		{Kind: decant.KindUse, Name: "read", Input: stdjson.RawMessage(`{"path":"a.go"}`)},
		{Kind: decant.KindUse, Name: "read", Input: stdjson.RawMessage(`{"path":"b.go"}`)},
	}}, nil
}

const asking = `{"model":"qwen","max_tokens":3000,"system":"Be short.","tools":[{"name":"read","description":"Reads.","input_schema":{"type":"object"}}],` +
	`"messages":[{"role":"user","content":"What is wrong?"}%s]}`

func turn(more string) *provider.Turn { return &provider.Turn{Body: fmt.Appendf(nil, asking, more)} }

// said puts together what was heard.
type said map[decant.Kind]string

func (s said) hear(d provider.Delta) { s[d.Kind] += d.ID + d.Name + d.Text }

// A turn of the Messages API is answered over Chat Completions, and its answer can be sent back.
func TestSpeak(t *testing.T) {
	s, c := local(t, speaks{})
	heard := said{}
	a, err := c.Speak(t.Context(), turn(""), heard.hear)
	if err != nil {
		t.Fatal(err)
	}
	if a.Stop != "tool_use" || a.Calls != 2 || a.Usage.Prompt() == 0 || a.Usage.Output == 0 || heard[decant.KindText] != a.Text {
		t.Errorf("answer %+v, heard %q", a, heard)
	}
	var blocks []struct {
		Type  string             `json:"type"`
		ID    string             `json:"id"`
		Input stdjson.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(a.Content, &blocks); err != nil || len(blocks) != 3 || string(blocks[2].Input) != `{"path":"b.go"}` {
		t.Fatalf("content %s, error %v", a.Content, err)
	}
	more := `,{"role":"assistant","content":` + string(a.Content) + `},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + blocks[1].ID +
		`","content":"package a"},{"type":"tool_result","tool_use_id":"` + blocks[2].ID + `","content":"package b"}]}`
	if a, err = c.Speak(t.Context(), turn(more), nil); err != nil || a.Text != "package a, package b" || a.Stop != "end_turn" {
		t.Errorf("answer %+v, error %v", a, err)
	}
	for _, e := range s.Log.Refused() {
		t.Errorf("refused: %s", e.Error)
	}
}

// The choice of tools is carried over.
func TestSpeakChoosesTools(t *testing.T) {
	s, c := local(t, speaks{})
	for choice, want := range map[string]string{
		`{"type":"none"}`:                                  `"tool_choice":"none"`,
		`{"type":"any"}`:                                   `"tool_choice":"required"`,
		`{"type":"tool","name":"read"}`:                    `"tool_choice":{"type":"function","function":{"name":"read"}}`,
		`{"type":"auto","disable_parallel_tool_use":true}`: `"parallel_tool_calls":false`,
	} {
		b := turn("")
		b.Body = append([]byte(`{"temperature":0,"stop_sequences":["END"],"tool_choice":`+choice+","), b.Body[1:]...)
		if _, err := c.Speak(t.Context(), b, nil); err != nil {
			t.Errorf("%s: %v", choice, err)
		}
		for _, want := range []string{want, `"temperature":0`, `"stop":["END"]`, `"max_tokens":3000`} {
			if got := string(s.Log.Last().Body); !strings.Contains(got, want) {
				t.Errorf("%s: %s lacks %s", choice, got, want)
			}
		}
	}
}

// Of an answer that breaks off the text is kept that came, and it is not asked for again.
func TestSpeakBreaksOff(t *testing.T) {
	for _, kind := range []sandbox.FaultKind{sandbox.FaultCut, sandbox.FaultHalf, sandbox.FaultStreamError, sandbox.FaultReset} {
		s, c := local(t, speaks{})
		s.Inject(sandbox.Fault{Kind: kind, After: 3})
		heard := said{}
		a, err := c.Speak(t.Context(), turn(""), heard.hear)
		if !errors.Is(err, provider.ErrBroken) || a == nil || a.Text == "" || a.Text != heard[decant.KindText] || a.Calls != 0 || len(s.Log.Entries()) != 1 {
			t.Errorf("%s: answer %+v, heard %q, error %v, %d requests", kind, a, heard, err, len(s.Log.Entries()))
		}
	}
	s, c := local(t, speaks{})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultStall, After: 3})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := c.Speak(ctx, turn(""), func(provider.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || a == nil || a.Text == "" {
		t.Errorf("interrupted: answer %+v, error %v", a, err)
	}
}

// What is refused is a failure with its status; what is busy is asked again before anything is heard.
func TestSpeakIsRefused(t *testing.T) {
	s, c := local(t, speaks{})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultInternal})
	if _, err := c.Speak(t.Context(), turn(""), nil); err != nil {
		t.Errorf("busy once: %v", err)
	}
	other := &provider.Turn{Body: []byte(strings.Replace(string(turn("").Body), "qwen", "none", 1))}
	_, err := c.Speak(t.Context(), other, nil)
	if f, ok := errors.AsType[*provider.Failure](err); !ok || f.Status != http.StatusNotFound || !errors.Is(err, provider.ErrRefused) {
		t.Errorf("error %v", err)
	}
	for _, body := range []string{``, `[]`, `{"stream":true,"messages":[]}`} {
		if _, err := c.Speak(t.Context(), &provider.Turn{Body: []byte(body)}, nil); err == nil {
			t.Errorf("%q is taken as a turn", body)
		}
	}
}

// What servers do that differ: no usage, no ids, "stop" behind calls, arguments that are no JSON, indexes out of order.
func TestSpeakReadsOddStreams(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{
			`{"choices":[{"delta":{"reasoning_content":"Hm."}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":7,"function":{"name":"first","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{\"a\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"read"}}]},"finish_reason":"stop"}]}`,
			`[DONE]`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	over := &http.Transport{}
	defer srv.Close()
	defer over.CloseIdleConnections()
	c, err := openai.New(openai.Options{Base: srv.URL + "/v1", Transport: over})
	if err != nil {
		t.Fatal(err)
	}
	heard := said{}
	a, err := c.Speak(t.Context(), turn(""), heard.hear)
	const want = `[{"type":"tool_use","id":"","name":"first","input":{}},{"type":"tool_use","id":"","name":"read","input":{"arguments":"{\"a\""}},{"type":"tool_use","id":"","name":"read","input":{}}]`
	ids := regexp.MustCompile(`call_\w+`).FindAllString(string(a.Content), -1)
	if len(ids) != 3 || ids[0] == ids[1] || ids[1] == ids[2] {
		t.Errorf("the calls have the ids %q", ids)
	}
	if got := regexp.MustCompile(`call_\w+`).ReplaceAllString(string(a.Content), ""); err != nil || a.Stop != "tool_use" || got != want || heard[decant.KindThinking] != "Hm." {
		t.Errorf("answer %+v, content %s, error %v", a, a.Content, err)
	}
}

// streams returns a client of a server that answers every turn with these events.
func streams(t *testing.T, kind string, events ...string) *openai.Client {
	t.Helper()
	return client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for _, e := range events {
			fmt.Fprint(w, e)
		}
	}), openai.Options{})
}

// Servers differ in how they number calls, write arguments and text, name thinking and end a stream.
func TestSpeakReadsOtherServers(t *testing.T) {
	const event = "text/event-stream"
	for name, tt := range map[string]struct {
		kind   string
		events []string
		text   string
		calls  string
		stop   string
	}{
		"every call has index 0": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
		}, "", `[{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"g","input":{}}]`, "tool_use"},
		"no index, arguments as an object": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"f","arguments":null}}]},"finish_reason":"tool_calls"}]}`,
		}, "", `[{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"f","input":{}}]`, "tool_use"},
		"text in parts, no reason to stop": {event, []string{
			`{"choices":[{"delta":{"content":[{"type":"text","text":"One"}]}}]}`, `{"choices":[{"delta":{"content":" two","reasoning":"Hm."}}]}`, `[DONE]`,
		}, "One two", `[{"type":"text","text":"One two"}]`, ""},
		"the index begins with 1": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":2,"id":"b","function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":":1}"}},{"index":2,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
		}, "", `[{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"f","input":{}}]`, "tool_use"},
		"no index, in pieces": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"x\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"arguments":"1}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
		}, "", `[{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"g","input":{}}]`, "tool_use"},
		"the name with every piece": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1}"}}]},"finish_reason":"stop"}]}`,
		}, "", `[{"type":"tool_use","id":"a","name":"f","input":{"x":1}}]`, "tool_use"},
		"the old form": {event, []string{
			`{"choices":[{"delta":{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}}}]}`,
			`{"choices":[{"delta":{"function_call":{"arguments":"{\"x\":"}}}]}`,
			`{"choices":[{"delta":{"function_call":{"arguments":"1}"}},"finish_reason":"function_call"}]}`,
		}, "", `[{"type":"tool_use","id":"call_","name":"f","input":{"x":1}}]`, "tool_use"},
		"the old form in one piece": {"application/json", []string{
			`{"choices":[{"message":{"content":null,"function_call":{"name":"f","arguments":"{\"x\":1}"}},"finish_reason":"function_call"}]}`,
		}, "", `[{"type":"tool_use","id":"call_","name":"f","input":{"x":1}}]`, "tool_use"},
		"index 0 and no id": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}},{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}}]},"finish_reason":"stop"}]}`,
		}, "", `[{"type":"tool_use","id":"call_","name":"f","input":{"x":1}},{"type":"tool_use","id":"call_","name":"f","input":{"x":2}}]`, "tool_use"},
		"one id for all": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_0","function":{"name":"f","arguments":"{\"x\":1}"}},{"index":1,"id":"call_0","function":{"name":"f","arguments":"{\"x\":2}"}}]},"finish_reason":"stop"}]}`,
		}, "", `[{"type":"tool_use","id":"call_","name":"f","input":{"x":1}},{"type":"tool_use","id":"call_","name":"f","input":{"x":2}}]`, "tool_use"},
		"arguments that are a list": {event, []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":["x"]}}]},"finish_reason":"stop"}]}`,
		}, "", `[{"type":"tool_use","id":"a","name":"f","input":{"arguments":"[\"x\"]"}}]`, "tool_use"},
		"events of other kinds": {event, []string{
			`{"type":"ping"}`, `{"choices":[]}`, ``, `{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}`,
		}, "Yes.", `[{"type":"text","text":"Yes."}]`, "end_turn"},
		"in one piece": {"application/json", []string{
			`{"choices":[{"message":{"content":"Here.","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`,
		}, "Here.", `[{"type":"text","text":"Here."},{"type":"tool_use","id":"a","name":"f","input":{}}]`, "tool_use"},
	} {
		for i := range tt.events {
			if tt.kind == event {
				tt.events[i] = "data: " + tt.events[i] + "\n\n"
			}
		}
		heard := said{}
		a, err := streams(t, tt.kind, tt.events...).Speak(t.Context(), turn(""), heard.hear)
		made := regexp.MustCompile(`call_\w+`).ReplaceAllString(string(a.Content), "call_")
		if err != nil || a.Text != tt.text || heard[decant.KindText] != tt.text || made != tt.calls || a.Stop != tt.stop {
			t.Errorf("%s: %+v, content %s, heard %q, %v", name, a, a.Content, heard, err)
		}
	}
}

// An event that cannot be read is an error, whatever else there is.
func TestSpeakReadsAllOrFails(t *testing.T) {
	for _, event := range []string{
		`{"choices":[{"delta":{"content":"x"`, `oops`, `{"choices":[{"delta":{"tool_calls":{"index":0}}}]}`, `{"choices":{"delta":{}}}`,
	} {
		good := "data: {\"choices\":[{\"delta\":{\"content\":\"One\"},\"finish_reason\":\"stop\"}]}\n\n"
		_, err := streams(t, "text/event-stream", "data: "+event+"\n\n", good).Speak(t.Context(), turn(""), nil)
		if !errors.Is(err, provider.ErrBroken) {
			t.Errorf("%s: %v", event, err)
		}
	}
}

// Servers differ in where they put an error, before an answer and in the middle of one.
func TestServersReportErrors(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"no","type":"x"}}`, `{"error":"no"}`, `{"detail":"no"}`, `[{"error":{"message":"no","code":400}}]`,
		`{"object":"error","message":"no","type":"x","code":400}`,
	} {
		_, err := client(t, fixed(http.StatusBadRequest, body), openai.Options{}).Ask(t.Context(), ask())
		if f, ok := errors.AsType[*provider.Failure](err); !ok || f.Message != "no" {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, event := range []string{`{"error":{"message":"no","type":"x"}}`, `{"error":"no"}`} {
		_, err := streams(t, "text/event-stream", "data: "+event+"\n\n").Speak(t.Context(), turn(""), nil)
		if f, ok := errors.AsType[*provider.Failure](err); !ok || f.Message != "no" || f.Status != http.StatusOK {
			t.Errorf("%s: %v", event, err)
		}
	}
}
