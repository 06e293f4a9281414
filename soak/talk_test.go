package soak

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// models are those that the official client talks to: thinking off, on, and bound to what was said before it.
var models = []anthropic.Model{"claude-sonnet-4-5", "claude-opus-4-8", "claude-opus-5-5"}

// talk holds conversations with the official client, whose answers go into the next request, until the context ends.
func (c *client) talk(ctx context.Context) {
	defer c.http.CloseIdleConnections()
	for n := 0; ctx.Err() == nil; n++ {
		c.converse(ctx, n)
	}
}

// converse holds one conversation.
func (c *client) converse(ctx context.Context, n int) {
	tag := fmt.Sprintf("talk-%d-%d", len(c.s.gauge.samples), n)
	l := &line{tenant: alice, session: tag}
	c.s.lines.add(l)
	p := talkParams(models[n%len(models)])
	sdk := anthropic.NewClient(option.WithBaseURL(c.s.gate.base), option.WithAPIKey("sk-soak-talk"), option.WithMaxRetries(8),
		option.WithHeader("X-Decant-Key", alice.key), option.WithHeader("X-Decant-Session", tag),
		option.WithHTTPClient(&http.Client{Transport: &listener{c: c, line: l}}))
	for turn := range 12 {
		words := fmt.Sprintf("Turn %d of %s: go on, please.", turn, tag)
		p.Messages = append(p.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(words)))
		for more := true; more; {
			if !pause(ctx, 150*time.Millisecond) {
				c.s.lines.finish(l)
				return
			}
			m, err := create(sdk, p, turn%2 == 0)
			if err != nil && l.faulty { // it was too long, and the database was locked
				c.s.lines.finish(l)
				return
			}
			if err != nil {
				c.s.tally.wrong(fmt.Sprintf("the official client on %s, turn %d: %v", p.Model, turn, err))
				return
			}
			p.Messages = append(p.Messages, m.ToParam())
			more = answerCalls(&p, m, tag)
		}
	}
	c.s.lines.finish(l)
}

// answerCalls adds the results of the tools that an answer calls, and reports whether there are any.
func answerCalls(p *anthropic.MessageNewParams, m *anthropic.Message, tag string) bool {
	var results []anthropic.ContentBlockParamUnion
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			results = append(results, anthropic.NewToolResultBlock(b.ID, printed(tag+b.ID), false))
		}
	}
	if len(results) == 0 {
		return false
	}
	p.Messages = append(p.Messages, anthropic.NewUserMessage(results...))
	return true
}

// printed is what a tool has printed.
func printed(tag string) string {
	var b bytes.Buffer
	for i := range 80 {
		fmt.Fprintf(&b, "%s: step %d wrote /var/lib/%s/%d.out and found %d entries\n", tag, i, tag, i, i*7919)
	}
	return b.String()
}

func talkParams(m anthropic.Model) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model: m, MaxTokens: 4096, System: []anthropic.TextBlockParam{{Text: "Be brief.", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "Bash", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"command": map[string]any{"type": "string"}}},
		}}},
	}
	if m != models[0] {
		p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{}
	}
	return p
}

// create asks with or without a stream.
func create(c anthropic.Client, p anthropic.MessageNewParams, stream bool) (*anthropic.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !stream {
		return c.Messages.New(ctx, p)
	}
	events := c.Messages.NewStreaming(ctx, p)
	defer events.Close()
	var m anthropic.Message
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			return nil, err
		}
	}
	return &m, events.Err()
}

// A listener notes what the official client sends and gets.
type listener struct {
	c    *client
	line *line
}

// RoundTrip reads the whole answer before the client does.
func (t *listener) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	res, err := t.c.http.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	h := res.Header
	o := &outcome{status: res.StatusCode, id: h.Get("Request-Id"), conversation: h.Get("X-Decant-Conversation"), fault: h.Get("X-Decant-Fault"), refused: h.Get("X-Decant-Refused")}
	o.read(res, patient)
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(o.body))
	t.c.s.tally.add(&question{path: r.URL.Path, body: body, who: alice}, o)
	t.line.faulty = o.fault != ""
	if o.status == http.StatusOK && o.whole && o.fault == "" {
		err = t.line.ack(body, o)
	}
	return res, err
}
