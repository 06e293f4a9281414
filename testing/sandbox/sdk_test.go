package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/decantdev/decant/testing/sandbox"
)

// client returns the official SDK's client for a sandbox.
func client(url string, more ...option.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]option.RequestOption{
		option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0),
	}, more...)...)
}

// params returns a request with one tool.
func params(model string, thinking anthropic.ThinkingConfigParamUnion) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: anthropic.Model(model), MaxTokens: 4096, Thinking: thinking,
		System: []anthropic.TextBlockParam{{Text: "be brief", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "Bash", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"command": map[string]any{"type": "string"}}},
		}}},
	}
}

// create asks with or without a stream.
func create(t *testing.T, c anthropic.Client, p anthropic.MessageNewParams, stream bool) (*anthropic.Message, error) {
	t.Helper()
	if !stream {
		return c.Messages.New(t.Context(), p)
	}
	events := c.Messages.NewStreaming(t.Context(), p)
	defer events.Close()
	var m anthropic.Message
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			return nil, fmt.Errorf("accumulate: %w", err)
		}
	}
	return &m, events.Err()
}

func TestOfficialClient(t *testing.T) {
	modes := []struct {
		name, model string
		thinking    anthropic.ThinkingConfigParamUnion
		thoughts    bool
	}{
		{"Off", old, anthropic.ThinkingConfigParamUnion{}, false},
		{"Manual", old, anthropic.ThinkingConfigParamOfEnabled(2000), true},
		{"AdaptiveUnbound", "claude-opus-4-8", anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}, true},
		{"AdaptiveBound", newest, anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}, true},
	}
	for _, m := range modes {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/Stream=%v", m.name, stream), func(t *testing.T) {
				s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 4, Parallel: 2, Thought: 300}, Chunk: 7})
				converse(t, client(url), params(m.model, m.thinking), stream, m.thoughts)
				if refused := s.Log.Refused(); len(refused) > 0 {
					t.Errorf("%d requests were refused: %s", len(refused), refused[0].Error)
				}
			})
		}
	}
}

// converse plays three turns and checks every answer.
func converse(t *testing.T, c anthropic.Client, p anthropic.MessageNewParams, stream, thoughts bool) {
	t.Helper()
	for turn := range 3 {
		p.Messages = append(p.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(fmt.Sprintf("turn %d, grüße 世界", turn))))
		for {
			m, err := create(t, c, p, stream)
			if err != nil {
				t.Fatalf("turn %d: %v", turn, err)
			}
			checkMessage(t, m, thoughts)
			p.Messages = append(p.Messages, m.ToParam())
			var results []anthropic.ContentBlockParamUnion
			for _, b := range m.Content {
				if b.Type == "tool_use" {
					results = append(results, anthropic.NewToolResultBlock(b.ID, "result of "+b.ID, false))
				}
			}
			if len(results) == 0 {
				break
			}
			p.Messages = append(p.Messages, anthropic.NewUserMessage(results...))
		}
	}
	if len(p.Messages) != 3*6 {
		t.Errorf("%d messages, want %d", len(p.Messages), 3*6)
	}
}

func checkMessage(t *testing.T, m *anthropic.Message, thoughts bool) {
	t.Helper()
	calls, thinking := 0, 0
	for _, b := range m.Content {
		switch b.Type {
		case "thinking":
			thinking++
			if len(b.Thinking) < 290 || b.Signature == "" {
				t.Errorf("thinking of %d bytes, signature %q", len(b.Thinking), b.Signature)
			}
		case "tool_use":
			calls++
			var input struct{ Command string }
			if err := json.Unmarshal(b.Input, &input); err != nil || !strings.Contains(input.Command, "seq 1 19") {
				t.Errorf("input %s: %v", b.Input, err)
			}
		case "text":
			if !strings.Contains(b.Text, "tep") {
				t.Errorf("text %q", b.Text)
			}
		}
	}
	want := anthropic.StopReasonEndTurn
	if calls > 0 {
		want = anthropic.StopReasonToolUse
	}
	if m.StopReason != want || (thinking > 0) != thoughts || m.Usage.InputTokens+m.Usage.CacheReadInputTokens+m.Usage.CacheCreationInputTokens == 0 || m.Usage.OutputTokens < 5 {
		t.Errorf("stop %q, %d calls, %d thoughts, usage %+v", m.StopReason, calls, thinking, m.Usage)
	}
}

func TestOfficialClientCountsAndLists(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	c := client(url)
	n, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{
		Model: newest, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("abcabc"))},
	})
	if err != nil || n.InputTokens != 6 {
		t.Errorf("count %+v, %v", n, err)
	}
	m, err := c.Models.Get(t.Context(), newest, anthropic.ModelGetParams{})
	if err != nil || m.ID != newest || m.DisplayName == "" {
		t.Errorf("model %+v, %v", m, err)
	}
	ids := 0
	pages := c.Models.ListAutoPaging(t.Context(), anthropic.ModelListParams{Limit: anthropic.Int(5)})
	for pages.Next() {
		ids++
	}
	if pages.Err() != nil || ids < 15 {
		t.Errorf("%d models, %v", ids, pages.Err())
	}
}

func TestOfficialClientSeesErrors(t *testing.T) {
	t.Parallel() // the client waits before it tries again
	s, url := start(t, sandbox.Options{})
	p := params(newest, anthropic.ThinkingConfigParamUnion{})
	p.Messages = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hello"))}
	for _, stream := range []bool{false, true} {
		for kind, status := range map[sandbox.FaultKind]int{sandbox.FaultRateLimit: 429, sandbox.FaultOverloaded: 529, sandbox.FaultInternal: 500} {
			s.Inject(sandbox.Fault{Kind: kind})
			_, err := create(t, client(url), p, stream)
			var apiErr *anthropic.Error
			if !errors.As(err, &apiErr) || apiErr.StatusCode != status || apiErr.RequestID == "" {
				t.Errorf("%s: %v", kind, err)
			}
		}
		s.Inject(sandbox.Fault{Kind: sandbox.FaultOverloaded}, sandbox.Fault{})
		if _, err := create(t, client(url, option.WithMaxRetries(1)), p, stream); err != nil {
			t.Errorf("retried: %v", err)
		}
	}
	for _, f := range []sandbox.Fault{
		{Kind: sandbox.FaultStreamError}, {Kind: sandbox.FaultStreamError, After: 4},
		{Kind: sandbox.FaultReset, After: 4}, {Kind: sandbox.FaultCut, After: 4},
		{Kind: sandbox.FaultReset}, {Kind: sandbox.FaultCut},
	} {
		s.Inject(f)
		if m, err := create(t, client(url), p, true); err == nil {
			t.Errorf("%+v: no error, message %+v", f, m)
		}
	}
}
