package sandbox

import (
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
)

// A completion is a finished answer of Chat Completions.
type completion struct {
	id, model string
	created   int
	text      string
	refusal   string
	calls     []Block
	finish    string
	thought   int // output tokens of reasoning
	usage     decant.Usage
}

// completion makes an answer of what the model said, within the limits of the request.
func (x *exchange) completion(q *chat, a Answer, found decant.Usage) *completion {
	c := &completion{model: q.body.str("model"), created: int(x.entry.Time.Unix()), finish: "stop", usage: charged(q.model, found)}
	c.id = callName("chatcmpl", x.s.secret, [16]byte{}, x.entry.Number, 0)
	m := &meter{counter: x.s.counter, room: min(q.max, q.model.Window-x.entry.Prompt)}
	defer func() { c.usage.Output = m.used }()
	for i, b := range a.Blocks {
		whole := true
		switch b.Kind {
		case decant.KindThinking:
			if !q.reasons() {
				continue
			}
			_, whole = m.fit(b.Text)
			c.thought = m.used
		case decant.KindText:
			b.Text, whole = m.fit(b.Text)
			c.text += b.Text
		case decant.KindUse:
			b.ID = callName("call", x.s.secret, [16]byte{}, x.entry.Number, i+1)
			if b.Input == nil {
				b.Input = []byte("{}")
			}
			if whole = m.take(callFrame + m.counter.Count(string(b.Input))); whole {
				c.calls = append(c.calls, b)
			}
		}
		if !whole {
			c.finish = "length"
			return c
		}
	}
	c.stop(q, a.Stop)
	return c
}

// stop says why the model stopped, and cuts the text at a stop sequence.
func (c *completion) stop(q *chat, why string) {
	stops := q.body.get("stop").list()
	if one := q.body.str("stop"); one != "" {
		stops = []*node{{text: one}}
	}
	for _, s := range stops {
		if s.text != "" {
			c.text, _, _ = strings.Cut(c.text, s.text)
		}
	}
	switch {
	case why == "refusal":
		c.text, c.refusal, c.calls = "", "I can't help with that.", nil
	case why == "max_tokens":
		c.finish = "length"
	case len(c.calls) > 0:
		c.finish = "tool_calls"
	}
}

// object returns an answer, or a piece of one.
func (c *completion) object(kind string, choices ...any) object {
	return object{"id", c.id, "object", kind, "created", c.created, "model", c.model, "service_tier", "default", "choices", list(choices)}
}

// whole returns the answer as one JSON object.
func (c *completion) whole() []byte {
	m := object{"role", "assistant", "content", orNull(c.text), "refusal", orNull(c.refusal), "annotations", list{}}
	var calls list
	for _, call := range c.calls {
		calls = append(calls, object{"id", call.ID, "type", "function", "function", object{"name", call.Name, "arguments", string(call.Input)}})
	}
	if calls != nil {
		m = append(m, "tool_calls", calls)
	}
	choice := object{"index", 0, "finish_reason", c.finish, "logprobs", nil, "message", m}
	return marshal(append(c.object("chat.completion", choice), "usage", c.used()))
}

// used returns the member usage: the prompt is all of it (docs/reference/openai.md, "Usage").
func (c *completion) used() object {
	u := c.usage
	return object{
		"prompt_tokens", u.Prompt(), "completion_tokens", u.Output, "total_tokens", u.Prompt() + u.Output,
		"prompt_tokens_details", object{"cached_tokens", u.CacheRead, "cache_write_tokens", u.CacheWrite, "audio_tokens", 0},
		"completion_tokens_details", object{
			"reasoning_tokens", c.thought, "audio_tokens", 0, "accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0,
		},
	}
}

// frames returns the answer as a stream: frames without names, and a last one that is not JSON.
func (c *completion) frames(chunk int, usage bool) (out []frame) {
	add := func(finish string, delta ...any) {
		o := c.object("chat.completion.chunk", object{"index", 0, "delta", object(delta), "finish_reason", orNull(finish)})
		if usage {
			o = append(o, "usage", nil)
		}
		out = append(out, frame{"", marshal(o)})
	}
	call := func(i int, members ...any) {
		add("", "tool_calls", list{append(object{"index", i}, members...)})
	}
	add("", "role", "assistant", "content", "")
	for _, d := range pieces(c.text, chunk) {
		add("", "content", d)
	}
	for _, d := range pieces(c.refusal, chunk) {
		add("", "refusal", d)
	}
	for i, b := range c.calls {
		call(i, "id", b.ID, "type", "function", "function", object{"name", b.Name, "arguments", ""})
		for _, d := range pieces(string(b.Input), chunk) {
			call(i, "function", object{"arguments", d})
		}
	}
	add(c.finish)
	if usage {
		out = append(out, frame{"", marshal(append(c.object("chat.completion.chunk"), "usage", c.used()))})
	}
	return append(out, frame{"", []byte("[DONE]")})
}

// pieces cuts a text at rune boundaries into pieces of about chunk bytes.
func pieces(text string, chunk int) (out []string) {
	for text != "" {
		n := min(chunk, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}
