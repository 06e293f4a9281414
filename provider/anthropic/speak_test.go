package anthropic_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
)

// speaks thinks, says something and calls a tool.
type speaks struct{}

func (speaks) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	return sandbox.Answer{Blocks: []sandbox.Block{
		{Kind: decant.KindThinking, Text: "I should look at the file before I say anything about it."},
		{Kind: decant.KindText, Text: "I look at the file that you name, and then I tell you what is wrong with it."},
		{Kind: decant.KindUse, ID: "toolu_1", Name: "read", Input: stdjson.RawMessage(`{"path":"a.go"}`)},
	}}, nil
}

func turn() *provider.Turn {
	return &provider.Turn{Body: []byte(`{"model":"claude-sonnet-4-5","max_tokens":3000,"messages":[{"role":"user","content":"What is wrong?"}]}`)}
}

func thinkingTurn() *provider.Turn {
	return &provider.Turn{Body: []byte(`{"model":"claude-sonnet-4-5","max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":1024},
		"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"What is wrong?"}]}`)}
}

// said puts together what was heard.
type said map[decant.Kind]string

func (s said) hear(d provider.Delta) { s[d.Kind] += d.ID + d.Name + d.Text }

// An answer is heard while it comes, and its content is what the API takes back: here it does, signature and all.
func TestSpeak(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: speaks{}})
	c := client(t, s, anthropic.Options{})
	heard := said{}
	a, err := c.Speak(t.Context(), thinkingTurn(), heard.hear)
	if err != nil {
		t.Fatal(err)
	}
	if a.Stop != "tool_use" || a.Calls != 1 || a.Usage.Output == 0 || heard[decant.KindText] != a.Text || !strings.Contains(heard[decant.KindThinking], "before I say") {
		t.Errorf("answer %+v, heard %q", a, heard)
	}
	if use := heard[decant.KindUse]; !strings.HasPrefix(use, "toolu_1read") || !strings.Contains(use, "a.go") {
		t.Errorf("heard of the call: %q", use)
	}
	next := thinkingTurn()
	next.Body = []byte(strings.TrimSuffix(string(next.Body), "]}") + `,{"role":"assistant","content":` + string(a.Content) +
		`},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"package a"}]}]}`)
	if _, err := c.Speak(t.Context(), next, nil); err != nil {
		t.Errorf("the answer is not taken back: %v", err)
	}
}

// Of an answer that breaks off the texts are kept that came, and it is not asked for again: it was heard.
func TestSpeakBreaksOff(t *testing.T) {
	for _, kind := range []sandbox.FaultKind{sandbox.FaultCut, sandbox.FaultHalf, sandbox.FaultStreamError, sandbox.FaultReset} {
		s := sandbox.New(sandbox.Options{Model: says("One two three four five six seven eight nine ten eleven twelve.")})
		c := client(t, s, anthropic.Options{})
		s.Inject(sandbox.Fault{Kind: kind, After: 4})
		heard := said{}
		a, err := c.Speak(t.Context(), turn(), heard.hear)
		if !errors.Is(err, provider.ErrBroken) || a == nil || a.Text == "" || a.Text != heard[decant.KindText] {
			t.Errorf("%s: answer %+v, heard %q, error %v", kind, a, heard, err)
			continue
		}
		var blocks []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(a.Content, &blocks); err != nil || len(blocks) != 1 || blocks[0].Text != a.Text {
			t.Errorf("%s: content %s, %v", kind, a.Content, err)
		}
		if n := len(s.Log.Entries()); n != 1 {
			t.Errorf("%s: %d requests, want 1", kind, n)
		}
	}
}

// Who interrupts an answer keeps what came of it.
func TestSpeakIsInterrupted(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: says("One two three four five six seven eight nine ten eleven twelve.")})
	c := client(t, s, anthropic.Options{})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultStall, After: 4})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	heard := said{}
	a, err := c.Speak(ctx, turn(), func(d provider.Delta) { heard.hear(d); cancel() })
	if !errors.Is(err, context.Canceled) || a == nil || a.Text == "" || a.Text != heard[decant.KindText] {
		t.Errorf("answer %+v, heard %q, error %v", a, heard, err)
	}
}

// What is refused before anything was heard is tried again where that is of use.
func TestSpeakTriesAgain(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: says("Yes.")})
	c := client(t, s, anthropic.Options{Backoff: provider.Backoff{Attempts: 3, Least: time.Millisecond, Most: time.Millisecond}})
	s.Inject(sandbox.Fault{Kind: sandbox.FaultOverloaded}, sandbox.Fault{Kind: sandbox.FaultInternal})
	if a, err := c.Speak(t.Context(), turn(), nil); err != nil || a.Text != "Yes." {
		t.Errorf("answer %+v, error %v", a, err)
	}
	bad := &provider.Turn{Body: []byte(`{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[]}`)}
	if _, err := c.Speak(t.Context(), bad, nil); !errors.Is(err, provider.ErrRefused) {
		t.Errorf("error %v, want ErrRefused", err)
	}
	if f, ok := errors.AsType[*provider.Failure](func() error { _, err := c.Speak(t.Context(), bad, nil); return err }()); !ok || f.Status != http.StatusBadRequest {
		t.Errorf("failure %+v", f)
	}
	for _, body := range []string{``, `[]`, `{"stream":false}`, `{`} {
		if _, err := c.Speak(t.Context(), &provider.Turn{Body: []byte(body)}, nil); err == nil {
			t.Errorf("%q is taken as a turn", body)
		}
	}
}
