// Package tracing records the runs of agents in OpenTelemetry spans, by the semantic conventions for generative AI:
//
//	invoke_agent shopkeeper            a run, with what it has used
//	├─ chat claude-sonnet-5-5          a request to the model, its tries included
//	├─ execute_tool read               a call that was made
//	│  └─ invoke_agent helper          what the call does itself
//	└─ chat claude-sonnet-5-5
//
// Spans hold no content: names of models and tools, ids, sizes and how things ended. What is not made has no span: a call that was
// denied, or of a tool that there is not.
package tracing

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/provider"
)

// Options configures what is recorded.
type Options struct {
	Spans trace.TracerProvider // that makes them; nil: the global one
	Agent string               // name of the agent; empty: none
	API   string               // who answers, by the conventions: "anthropic", "openai"; empty: it is not said
}

// Wrap returns client and o so that the runs of an agent that is made of them are recorded. The hooks of o are called as before.
func Wrap(opts Options, client provider.Speaker, o agent.Options) (provider.Speaker, agent.Options) {
	if opts.Spans == nil {
		opts.Spans = otel.GetTracerProvider()
	}
	t := &tracer{opts: opts, model: o.Model, spans: opts.Spans.Tracer("github.com/decantdev/decant/agent")}
	o.Hooks = t.hooks(o.Hooks)
	tools := make([]agent.Tool, len(o.Tools))
	for i := range o.Tools {
		tools[i] = within(o.Tools[i])
	}
	o.Tools = tools
	return &speaker{client, t}, o
}

// A tracer makes the spans of one agent.
type tracer struct {
	opts  Options
	model string
	spans trace.Tracer
}

// A run is one that is recorded.
type run struct {
	span    trace.Span
	session string

	mu    sync.Mutex
	used  decant.Usage
	calls map[string]trace.Span // that are being made, by their ids
}

type runKey struct{}

// runOf returns the run of a context, nil where it is that of none.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// hooks returns hooks that record runs and calls, and call those that there are.
func (t *tracer) hooks(had agent.Hooks) agent.Hooks {
	out := had
	out.BeforeRun = func(ctx context.Context, s *agent.Session) context.Context {
		if had.BeforeRun != nil {
			ctx = had.BeforeRun(ctx, s)
		}
		return t.begin(ctx, s)
	}
	out.AfterRun = func(ctx context.Context, o agent.Outcome, err error) {
		t.end(ctx, o, err)
		if had.AfterRun != nil {
			had.AfterRun(ctx, o, err)
		}
	}
	out.BeforeTool = func(ctx context.Context, c *agent.Call) error {
		if had.BeforeTool != nil {
			if err := had.BeforeTool(ctx, c); err != nil {
				return err
			}
		}
		t.call(ctx, c)
		return nil
	}
	out.AfterTool = func(ctx context.Context, c *agent.Call, r *agent.Result) error {
		returned(ctx, c, r)
		if had.AfterTool != nil {
			return had.AfterTool(ctx, c, r)
		}
		return nil
	}
	return out
}

// begin begins the span of a run.
func (t *tracer) begin(ctx context.Context, s *agent.Session) context.Context {
	name := "invoke_agent"
	as := append(t.about(name, s.ID()), aiModel.String(t.model))
	if t.opts.Agent != "" {
		name += " " + t.opts.Agent
		as = append(as, aiAgent.String(t.opts.Agent))
	}
	ctx, span := t.spans.Start(ctx, name, trace.WithAttributes(as...))
	return context.WithValue(ctx, runKey{}, &run{span: span, session: s.ID(), calls: map[string]trace.Span{}})
}

// about returns what all spans of an operation say.
func (t *tracer) about(operation, session string) []attribute.KeyValue {
	as := []attribute.KeyValue{aiOperation.String(operation), aiConversation.String(session)}
	if t.opts.API != "" {
		as = append(as, aiProvider.String(t.opts.API))
	}
	return as
}

// end ends the span of a run. One that was cancelled has not failed.
func (t *tracer) end(ctx context.Context, o agent.Outcome, err error) {
	r := runOf(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, span := range r.calls { // a run that panics leaves some
		span.End()
		delete(r.calls, id)
	}
	r.span.SetAttributes(append(usage(r.used), stopReason.String(string(o.Stop)), forced.Bool(o.Forced))...)
	if o.Stop == agent.StopFailed {
		failed(r.span, kindOf(err))
	}
	r.span.End()
}

// call begins the span of a call.
func (t *tracer) call(ctx context.Context, c *agent.Call) {
	r := runOf(ctx)
	as := append(t.about("execute_tool", r.session), toolName.String(c.Tool), toolCall.String(c.ID), toolType.String("function"))
	_, span := t.spans.Start(ctx, "execute_tool "+c.Tool, trace.WithAttributes(as...))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[c.ID] = span
}

// returned ends the span of a call, also of one that was given up.
func returned(ctx context.Context, c *agent.Call, res *agent.Result) {
	r := runOf(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	span := r.calls[c.ID]
	delete(r.calls, c.ID)
	if span == nil {
		return
	}
	switch {
	case ctx.Err() != nil:
		failed(span, kindOf(ctx.Err()))
	case res.Error:
		failed(span, "tool_error")
	}
	span.End()
}

// within returns a tool whose calls have the context of their span.
func within(t agent.Tool) agent.Tool {
	do := t.Run
	t.Run = func(ctx context.Context, c *agent.Call) (agent.Result, error) {
		if r := runOf(ctx); r != nil {
			r.mu.Lock()
			span := r.calls[c.ID]
			r.mu.Unlock()
			if span != nil {
				ctx = trace.ContextWithSpan(ctx, span)
			}
		}
		return do(ctx, c)
	}
	return t
}
