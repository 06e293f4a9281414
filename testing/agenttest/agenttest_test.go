package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/agenttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A verdict is a test that a model may fail.
type verdict struct {
	testing.TB
	failed []string
	end    []func()
}

func (v *verdict) Helper()          {}
func (v *verdict) Cleanup(f func()) { v.end = append(v.end, f) }
func (v *verdict) Errorf(format string, args ...any) {
	v.failed = append(v.failed, fmt.Sprintf(format, args...))
}

// over ends the test.
func (v *verdict) over() {
	for _, f := range v.end {
		f()
	}
}

type path struct {
	Path string `json:"path"`
}

// read is a tool.
var read = agent.Func("read", "Reads a file.", func(_ context.Context, _ *agent.Call, p path) (agent.Result, error) {
	if p.Path == "gone" {
		return agent.Result{}, errors.New("there is no such file")
	}
	return agent.Result{Text: "module example.com/" + p.Path}, nil
})

// run runs an agent against a script to its end.
func run(t *testing.T, m *agenttest.Model, o agent.Options) (out agent.Outcome, heard string, err error) {
	t.Helper()
	o.Model, o.Engine, o.Tools = "claude-sonnet-4-5", agenttest.Engine(t), []agent.Tool{read}
	a, err := agent.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	for e, fault := range a.Run(t.Context(), "What is it?") {
		if e.Kind == agent.EventText || e.Kind == agent.EventThinking {
			heard += e.Text
		}
		if e.Outcome != nil {
			out, err = *e.Outcome, fault
		}
	}
	return out, heard, err
}

// A script that fits is played: its texts are heard word by word, its calls are made, and what comes back is what it wants.
func TestAScriptIsPlayed(t *testing.T) {
	m := agenttest.New(t,
		agenttest.Turn{Want: "user: What is it?", Thinking: "I must look.", Text: "I look.", Calls: []agenttest.Call{
			{Tool: "read", Arguments: `{"path":"shop"}`}, {ID: "toolu_mine", Tool: "read", Arguments: `{"path":"gone"}`}}},
		agenttest.Turn{
			Want: "result of read: module example.com/shop\nerror of read: there is no such file", Text: "A shop.",
			Check: func(r *agenttest.Request) error {
				if r.System != "You read." || len(r.Tools) != 1 || !strings.Contains(r.String(), `call read {"path":"gone"}`) {
					return fmt.Errorf("system %q, tools %q", r.System, r.Tools)
				}
				return nil
			}},
	)
	out, heard, err := run(t, m, agent.Options{System: "You read."})
	if err != nil || out.Text != "A shop." || out.Spent.Turns != 2 || heard != "I must look.I look.A shop." {
		t.Errorf("outcome %+v, heard %q, error %v", out, heard, err)
	}
	if rs := m.Requests(); len(rs) != 2 || rs[1].Conversation.Messages[1].Blocks[2].CallID != "toolu_1_1" {
		t.Errorf("%d requests", len(rs))
	}
}

// What does not fit fails the test and says why.
func TestAScriptThatDoesNotFitFailsTheTest(t *testing.T) {
	call := agenttest.Turn{Calls: []agenttest.Call{{Tool: "read", Arguments: `{"path":"shop"}`}}}
	for name, c := range map[string]struct {
		script []agenttest.Turn
		turns  int
		want   []string
	}{
		"too short":     {[]agenttest.Turn{call}, 0, []string{"asked once more than the script has turns, which is 1", "+ result of read: module example.com/shop"}},
		"too long":      {[]agenttest.Turn{{Text: "A shop."}, call, {Err: errors.New("oops")}}, 0, []string{"1 of 3 turns were played", "- turn 2:\n    call read", "error: oops"}},
		"another want":  {[]agenttest.Turn{{Want: "user: Why is it?"}}, 0, []string{"-user: Why is it?", "+user: What is it?"}},
		"a check":       {[]agenttest.Turn{{Check: func(*agenttest.Request) error { return errors.New("not so") }}}, 0, []string{"turn 1: not so", "user: What is it?"}},
		"tools are off": {[]agenttest.Turn{call, call}, 2, []string{"turn 2: it calls a tool, and the request has them switched off"}},
	} {
		v := &verdict{TB: t}
		_, _, err := run(t, agenttest.New(v, c.script...), agent.Options{Turns: c.turns})
		v.over()
		if len(v.failed) != 1 {
			t.Errorf("%s: failed with %q", name, v.failed)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(v.failed[0], want) {
				t.Errorf("%s: failed with %s, want %q", name, v.failed[0], want)
			}
		}
		if tooLong := name == "too long"; errors.Is(err, agenttest.ErrScript) == tooLong {
			t.Errorf("%s: the run ended with %v", name, err)
		}
	}
}

// What the API would refuse fails the test, and names the rule.
func TestAnIllegalRequestFailsTheTest(t *testing.T) {
	const use = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}`
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	const hello, orphan = `{"type":"text","text":"Hello"}`, `{"type":"tool_result","tool_use_id":"toolu_9","content":"x"}`
	const result = `{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}`
	for name, c := range map[string]struct{ body, want string }{
		"a call without its result":  {user(hello) + "," + use + "," + user(hello), "tool-result-missing"},
		"a result without its call":  {user(orphan), "tool-result-orphan"},
		"a text before results":      {user(hello) + "," + use + "," + user(hello+","+result), "tool-results-first"},
		"an empty text":              {user(`{"type":"text","text":""}`), "text-empty"},
		"the assistant begins":       {`{"role":"assistant","content":"Hello"}`, "first-message"},
		"a call twice":               {user(hello) + "," + use + "," + user(result) + "," + use + "," + user(result), "call-id-unique"},
		"thinking that was changed":  {user(hello) + `,{"role":"assistant","content":[{"type":"thinking","thinking":"So","signature":"agenttest` + strings.Repeat("00", 32) + `"},` + hello + `]},` + user(hello), "the thinking is not as"},
		"no messages":                {"", "there are none"},
		"a block without a type":     {user(`{"text":"a"}`), "has no type"},
		"a name twice":               {user(`{"type":"text","text":"a","text":"b"}`), "JSON"},
		"something that is no block": {user(`7`), "list of blocks"},
	} {
		v := &verdict{TB: t}
		m := agenttest.New(v, agenttest.Turn{Text: "Hello."})
		body := `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[` + c.body + `]}`
		if _, err := m.Speak(t.Context(), &provider.Turn{Body: []byte(body)}, nil); !errors.Is(err, agenttest.ErrScript) {
			t.Errorf("%s: %v", name, err)
		}
		if len(v.failed) != 1 || !strings.Contains(v.failed[0], c.want) {
			t.Errorf("%s: failed with %q, want %q", name, v.failed, c.want)
		}
	}
	for body, want := range map[string]string{
		`{"model":"claude-sonnet-4-5","messages":[` + user(hello) + `]}`:                     "max_tokens",
		`{"max_tokens":1,"messages":[` + user(hello) + `]}`:                                  "model: it is missing",
		`{"model":"claude-sonnet-4-5","max_tokens":900000,"messages":[` + user(hello) + `]}`: "output-limit",
	} {
		v := &verdict{TB: t}
		_, _ = agenttest.New(v, agenttest.Turn{}).Speak(t.Context(), &provider.Turn{Body: []byte(body)}, nil)
		if len(v.failed) != 1 || !strings.Contains(v.failed[0], want) {
			t.Errorf("failed with %q, want %q", v.failed, want)
		}
	}
}

// A turn may fail, or break off behind a text, which stays in the history.
func TestATurnMayFail(t *testing.T) {
	overloaded := &provider.Failure{Status: 529, Kind: "overloaded_error", Message: "Overloaded"}
	if _, _, err := run(t, agenttest.New(t, agenttest.Turn{Err: overloaded}), agent.Options{}); !errors.Is(err, overloaded) {
		t.Errorf("error %v", err)
	}
	m := agenttest.New(t, agenttest.Turn{Text: "I was about", Err: provider.ErrBroken})
	if out, heard, err := run(t, m, agent.Options{}); !errors.Is(err, provider.ErrBroken) || heard != "I was about" || out.Text != heard {
		t.Errorf("outcome %+v, heard %q, error %v", out, heard, err)
	}
	m = agenttest.New(t, agenttest.Turn{Stop: "refusal", Usage: decant.Usage{Input: 7, Output: 1}})
	if out, _, err := run(t, m, agent.Options{}); err != nil || out.Stop != agent.StopRefused || out.Spent.Tokens() != 8 {
		t.Errorf("outcome %+v, error %v", out, err)
	}
}

// A delay takes the time that it says, and ends early with its context.
func TestATurnMayTakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hello := &provider.Turn{Body: []byte(`{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"Hello"}]}`)}
		m := agenttest.New(t, agenttest.Turn{Text: "Hi.", Delay: time.Minute}, agenttest.Turn{Delay: time.Hour})
		begin := time.Now()
		if a, err := m.Speak(t.Context(), hello, nil); err != nil || a.Text != "Hi." || time.Since(begin) != time.Minute {
			t.Errorf("%+v, %v after %s", a, err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Speak(ctx, hello, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// A model may be asked by several goroutines at once; each turn is played once.
func TestAModelIsAskedByMany(t *testing.T) {
	script := make([]agenttest.Turn, 20)
	for i := range script {
		script[i].Text = fmt.Sprint("turn ", i)
	}
	m := agenttest.New(t, script...)
	hello := &provider.Turn{Body: []byte(`{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"Hello"}]}`)}
	said := make([]string, len(script))
	var wg sync.WaitGroup
	for i := range said {
		wg.Go(func() {
			if a, err := m.Speak(t.Context(), hello, nil); err == nil {
				said[i] = a.Text
			}
		})
	}
	wg.Wait()
	slices.Sort(said)
	if len(slices.Compact(said)) != len(script) || len(m.Requests()) != len(script) {
		t.Errorf("said %q", said)
	}
}
