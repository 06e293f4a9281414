package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tracing"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/agenttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A record is the spans of agents.
type record struct {
	*testing.T
	spans *tracetest.InMemoryExporter
	by    *sdk.TracerProvider
}

func newRecord(t *testing.T) *record {
	spans := tracetest.NewInMemoryExporter()
	return &record{t, spans, sdk.NewTracerProvider(sdk.WithSyncer(spans))}
}

// agent returns an agent that is recorded and plays a script.
func (r *record) agent(name string, o agent.Options, script ...agenttest.Turn) *agent.Agent {
	r.Helper()
	o.Model, o.Engine = "claude-sonnet-4-5", agenttest.Engine(r)
	client, o := tracing.Wrap(tracing.Options{Spans: r.by, Agent: name, API: "anthropic"}, agenttest.New(r, script...), o)
	a, err := agent.New(client, o)
	if err != nil {
		r.Fatal(err)
	}
	return a
}

// run runs to the end.
func (r *record) run(ctx context.Context, s *agent.Session) (out agent.Outcome, err error) {
	for e, fault := range s.Run(ctx, "My secret is plover.") {
		if e.Outcome != nil {
			out, err = *e.Outcome, fault
		}
	}
	return out, err
}

// tree returns the spans as a tree, with what failed in brackets, and checks that none has content.
func (r *record) tree() string {
	spans := r.spans.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var out []string
	var visit func(parent trace.SpanID, depth int)
	visit = func(parent trace.SpanID, depth int) {
		for _, s := range spans {
			if s.Parent.SpanID() != parent {
				continue
			}
			line := strings.Repeat("  ", depth) + s.Name
			if s.Status.Code == codes.Error {
				line += " [" + attr(s, "error.type").String() + "]"
			}
			out = append(out, line)
			visit(s.SpanContext.SpanID(), depth+1)
		}
	}
	visit(trace.SpanID{}, 0)
	if all := fmt.Sprintf("%+v", spans); strings.Contains(all, "plover") {
		r.Errorf("spans have content: %s", all)
	}
	return strings.Join(out, "\n")
}

// attr returns an attribute of a span.
func attr(s tracetest.SpanStub, key attribute.Key) attribute.Value {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value
		}
	}
	return attribute.Value{}
}

// named returns the spans with a name.
func (r *record) named(name string) (out []tracetest.SpanStub) {
	for _, s := range r.spans.GetSpans() {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// call is a turn that calls tools.
func call(tools ...string) agenttest.Turn {
	t := agenttest.Turn{Usage: decant.Usage{Input: 10, CacheRead: 100, CacheWrite: 5, Output: 7}}
	for _, name := range tools {
		t.Calls = append(t.Calls, agenttest.Call{Tool: name, Arguments: `{"of":"plover"}`})
	}
	return t
}

// Requests, calls that are made side by side, and agents within tools have the parents that they belong to, and what they used.
func TestARunIsATree(t *testing.T) {
	r := newRecord(t)
	helper := r.agent("helper", agent.Options{}, agenttest.Turn{Text: "plover"}, agenttest.Turn{Text: "plover"})
	ask := agent.Tool{Name: "ask", ReadOnly: true, Run: func(ctx context.Context, c *agent.Call) (agent.Result, error) {
		o, err := r.run(ctx, helper.Session(""))
		return agent.Result{Text: o.Text}, err
	}}
	breaks := agent.Tool{Name: "breaks", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) { panic("plover") }}
	keeper := r.agent("keeper", agent.Options{Tools: []agent.Tool{ask, breaks}}, call("ask", "ask"), call("breaks", "nothing"), agenttest.Turn{Text: "Done."})
	s := keeper.Session("s1")
	if o, err := r.run(t.Context(), s); err != nil || o.Text != "Done." {
		t.Fatalf("%+v, %v", o, err)
	}
	want := `invoke_agent keeper
  chat claude-sonnet-4-5
  execute_tool ask
    invoke_agent helper
      chat claude-sonnet-4-5
  execute_tool ask
    invoke_agent helper
      chat claude-sonnet-4-5
  chat claude-sonnet-4-5
  execute_tool breaks [tool_error]
  chat claude-sonnet-4-5`
	if got := r.tree(); got != want {
		t.Errorf("spans:\n%s\nwant:\n%s", got, want)
	}
	top := r.named("invoke_agent keeper")[0]
	for key, want := range map[attribute.Key]any{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "keeper", "gen_ai.conversation.id": "s1", "gen_ai.provider.name": "anthropic",
		"gen_ai.request.model": "claude-sonnet-4-5", "decant.stop": "answered", "decant.forced": false,
		"gen_ai.usage.cache_read.input_tokens": int64(200), "gen_ai.usage.cache_creation.input_tokens": int64(10),
	} {
		if got := attr(top, key).AsInterface(); got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	first := r.named("chat claude-sonnet-4-5")[0]
	for key, want := range map[attribute.Key]string{
		"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "115", "gen_ai.usage.output_tokens": "7", "gen_ai.response.finish_reasons": `["tool_use"]`,
		"gen_ai.response.model": "claude-sonnet-4-5", "gen_ai.request.max_tokens": "8192", "gen_ai.conversation.id": "s1",
	} {
		if got := attr(first, key).String(); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if first.SpanKind != trace.SpanKindClient || top.SpanKind != trace.SpanKindInternal {
		t.Errorf("kinds %s and %s", first.SpanKind, top.SpanKind)
	}
	tool := r.named("execute_tool breaks")[0]
	if attr(tool, "gen_ai.tool.name").String() != "breaks" || attr(tool, "gen_ai.tool.call.id").String() != "toolu_2_1" || attr(tool, "gen_ai.tool.type").String() != "function" {
		t.Errorf("attributes %v", tool.Attributes)
	}
}

// What fails says how; a final answer that was forced is marked; what goes on after a verdict is a run of its own.
func TestHowARunEnds(t *testing.T) {
	overloaded := &provider.Failure{Status: 529, Kind: "overloaded_error", Message: "plover"}
	read := agent.Tool{Name: "read", Run: func(context.Context, *agent.Call) (agent.Result, error) { return agent.Result{Text: "plover"}, nil }}
	slow := agent.Tool{Name: "slow", Timeout: time.Millisecond, Run: func(ctx context.Context, _ *agent.Call) (agent.Result, error) {
		<-ctx.Done()
		return agent.Result{}, errors.New("plover")
	}}
	asks := agent.Tool{Name: "asks", Ask: true, Run: read.Run}
	for name, c := range map[string]struct {
		turns  int
		script []agenttest.Turn
		want   string
		stop   agent.Stop
	}{
		"a refusal of the API":  {0, []agenttest.Turn{{Err: overloaded}}, "invoke_agent a [overloaded_error]\n  chat claude-sonnet-4-5 [overloaded_error]", agent.StopFailed},
		"an answer that breaks": {0, []agenttest.Turn{{Text: "plover", Err: provider.ErrBroken}}, "invoke_agent a [broken_off]\n  chat claude-sonnet-4-5 [broken_off]", agent.StopFailed},
		"a slow call":           {0, []agenttest.Turn{call("slow"), {Text: "plover"}}, "invoke_agent a\n  chat claude-sonnet-4-5\n  execute_tool slow [tool_error]\n  chat claude-sonnet-4-5", agent.StopAnswered},
		"a forced answer":       {2, []agenttest.Turn{call("read"), {Text: "plover"}}, "invoke_agent a\n  chat claude-sonnet-4-5\n  execute_tool read\n  chat claude-sonnet-4-5", agent.StopTurns},
		"a call that waits":     {0, []agenttest.Turn{call("asks")}, "invoke_agent a\n  chat claude-sonnet-4-5", agent.StopApproval},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord(t)
			s := r.agent("a", agent.Options{Tools: []agent.Tool{read, slow, asks}, Turns: c.turns}, c.script...).Session("")
			if o, _ := r.run(t.Context(), s); o.Stop != c.stop {
				t.Errorf("outcome %+v", o)
			}
			if got := r.tree(); got != c.want {
				t.Errorf("spans:\n%s\nwant:\n%s", got, c.want)
			}
			chats := r.named("chat claude-sonnet-4-5")
			if last := chats[len(chats)-1]; attr(last, "decant.forced").AsBool() != (c.stop == agent.StopTurns) {
				t.Errorf("attributes %v", last.Attributes)
			}
		})
	}
}

// A run that is cancelled in the middle of a call has not failed, and all its spans end.
func TestACancelledRun(t *testing.T) {
	r := newRecord(t)
	ctx, cancel := context.WithCancel(t.Context())
	wait := agent.Tool{Name: "wait", Run: func(ctx context.Context, _ *agent.Call) (agent.Result, error) {
		cancel()
		<-ctx.Done()
		return agent.Result{}, ctx.Err()
	}}
	o, err := r.run(ctx, r.agent("", agent.Options{Tools: []agent.Tool{wait}}, call("wait")).Session(""))
	if o.Stop != agent.StopCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("outcome %+v, error %v", o, err)
	}
	if got, want := r.tree(), "invoke_agent\n  chat claude-sonnet-4-5\n  execute_tool wait [canceled]"; got != want {
		t.Errorf("spans:\n%s\nwant:\n%s", got, want)
	}
}

// The hooks that an agent has are called all the same.
func TestHooksStay(t *testing.T) {
	r := newRecord(t)
	var called []string
	note := func(name string) { called = append(called, name) }
	hooks := agent.Hooks{
		BeforeRun:  func(ctx context.Context, _ *agent.Session) context.Context { note("before run"); return ctx },
		AfterRun:   func(context.Context, agent.Outcome, error) { note("after run") },
		BeforeTool: func(context.Context, *agent.Call) error { note("before tool"); return nil },
		AfterTool: func(context.Context, *agent.Call, *agent.Result) error {
			note("after tool")
			return errors.New("enough")
		},
	}
	read := agent.Tool{Name: "read", Run: func(context.Context, *agent.Call) (agent.Result, error) { return agent.Result{}, nil }}
	if o, err := r.run(t.Context(), r.agent("a", agent.Options{Tools: []agent.Tool{read}, Hooks: hooks}, call("read")).Session("")); err == nil || o.Stop != agent.StopFailed {
		t.Errorf("outcome %+v, error %v", o, err)
	}
	if want := []string{"before run", "before tool", "after tool", "after run"}; !slices.Equal(called, want) {
		t.Errorf("called %q", called)
	}
	if got, want := r.tree(), "invoke_agent a [_OTHER]\n  chat claude-sonnet-4-5\n  execute_tool read"; got != want {
		t.Errorf("spans:\n%s\nwant:\n%s", got, want)
	}
}
