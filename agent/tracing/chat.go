package tracing

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
)

// Names by the semantic conventions of generative AI. These are in development, so the names are only here.
const (
	aiOperation    = attribute.Key("gen_ai.operation.name")
	aiProvider     = attribute.Key("gen_ai.provider.name")
	aiAgent        = attribute.Key("gen_ai.agent.name")
	aiConversation = attribute.Key("gen_ai.conversation.id")
	aiModel        = attribute.Key("gen_ai.request.model")
	aiMaxTokens    = attribute.Key("gen_ai.request.max_tokens")
	aiAnswered     = attribute.Key("gen_ai.response.model")
	aiFinish       = attribute.Key("gen_ai.response.finish_reasons")
	aiFirstChunk   = attribute.Key("gen_ai.response.time_to_first_chunk")
	aiInput        = attribute.Key("gen_ai.usage.input_tokens")
	aiOutput       = attribute.Key("gen_ai.usage.output_tokens")
	aiCacheRead    = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	aiCacheWrite   = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	toolName       = attribute.Key("gen_ai.tool.name")
	toolCall       = attribute.Key("gen_ai.tool.call.id")
	toolType       = attribute.Key("gen_ai.tool.type")
	errorType      = attribute.Key("error.type")
)

// Decant's own.
const (
	stopReason = attribute.Key("decant.stop")   // why a run ended
	forced     = attribute.Key("decant.forced") // the model was asked for its final answer, or is with this request
)

// A speaker records what a client is asked.
type speaker struct {
	client provider.Speaker
	by     *tracer
}

// Speak implements provider.Speaker.
func (s *speaker) Speak(ctx context.Context, t *provider.Turn, heard func(provider.Delta)) (*provider.Answer, error) {
	r := runOf(ctx)
	if r == nil {
		return s.client.Speak(ctx, t, heard) // not in a run
	}
	name, as := s.asked(t.Body, r)
	ctx, span := s.by.spans.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(as...))
	defer span.End()
	begin, first := time.Now(), true
	a, err := s.client.Speak(ctx, t, func(d provider.Delta) {
		if first {
			first = false
			span.SetAttributes(aiFirstChunk.Float64(time.Since(begin).Seconds()))
		}
		if heard != nil {
			heard(d)
		}
	})
	if a != nil {
		r.answered(span, a)
	}
	if err != nil {
		failed(span, kindOf(err))
	}
	return a, err
}

// asked returns the name of a request's span, and what is known of the request.
func (s *speaker) asked(body []byte, r *run) (string, []attribute.KeyValue) {
	var p struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Choice    struct {
			Type string `json:"type"`
		} `json:"tool_choice"`
	}
	as := s.by.about("chat", r.session)
	if json.Unmarshal(body, &p) != nil {
		return "chat", as
	}
	as = append(as, aiModel.String(p.Model), aiMaxTokens.Int(p.MaxTokens))
	if p.Choice.Type == "none" {
		as = append(as, forced.Bool(true))
	}
	return "chat " + p.Model, as
}

// answered says what an answer was, and adds it to what the run has used.
func (r *run) answered(span trace.Span, a *provider.Answer) {
	as := usage(a.Usage)
	if a.Model != "" {
		as = append(as, aiAnswered.String(a.Model))
	}
	if a.Stop != "" {
		as = append(as, aiFinish.StringSlice([]string{a.Stop}))
	}
	span.SetAttributes(as...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = r.used.Add(a.Usage)
}

// usage returns what was used. By the conventions what the cache was read for and what was written to it are part of the input.
func usage(u decant.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{aiInput.Int(u.Prompt()), aiOutput.Int(u.Output), aiCacheRead.Int(u.CacheRead), aiCacheWrite.Int(u.CacheWrite)}
}

// failed says that what a span stands for has failed. What an error says may have content and is left out.
func failed(s trace.Span, kind string) {
	s.SetAttributes(errorType.String(kind))
	s.SetStatus(codes.Error, "")
}

// kindOf returns the kind of an error.
func kindOf(err error) string {
	f, isFailure := errors.AsType[*provider.Failure](err)
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case isFailure && word(f.Kind):
		return f.Kind
	case isFailure:
		return strconv.Itoa(f.Status)
	case errors.Is(err, provider.ErrBroken):
		return "broken_off"
	}
	return "_OTHER"
}

// word reports whether s looks like the name of a kind.
func word(s string) bool {
	for i := range len(s) {
		if s[i] != '_' && (s[i] < 'a' || s[i] > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
