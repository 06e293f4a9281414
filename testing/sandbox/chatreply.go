package sandbox

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A completion is a finished answer of Chat Completions.
type completion struct {
	id, model string
	created   int64
	text      string
	refusal   string
	calls     []Block
	finish    string
	thought   int // output tokens of reasoning
	usage     decant.Usage
}

// completion makes an answer of what the model said, within the limits of the request.
func (x *exchange) completion(q *chat, a Answer, found decant.Usage) *completion {
	c := &completion{model: q.body.str("model"), created: x.entry.Time.Unix(), finish: "stop", usage: found}
	c.id = callName("chatcmpl", x.s.secret, [16]byte{}, x.entry.Number, 0)
	if charges(q.model) && c.usage.Input >= chatCache {
		c.usage.CacheWrite, c.usage.Input = c.usage.Input, 0
	}
	room := min(q.max, q.model.Window-x.entry.Prompt)
	for i, b := range a.Blocks {
		size := x.s.counter.Count(b.Text)
		switch b.Kind {
		case decant.KindThinking:
			if !q.reasons() {
				continue
			}
			c.thought += min(size, room)
		case decant.KindText:
			if size > room {
				b.Text, c.finish = b.Text[:cutAt(b.Text, room, x.s.counter)], "length"
			}
			c.text += b.Text
		case decant.KindUse:
			b.ID = callName("call", x.s.secret, [16]byte{}, x.entry.Number, i+1)
			if b.Input == nil {
				b.Input = []byte("{}")
			}
			if size = callFrame + x.s.counter.Count(string(b.Input)); size <= room {
				c.calls = append(c.calls, b)
			}
		}
		if c.usage.Output += min(size, room); size > room {
			c.finish = "length"
			return c
		}
		room -= size
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

// cutAt returns how many bytes of a text are at most room tokens.
func cutAt(text string, room int, c decant.Counter) int {
	n := sort.Search(len(text), func(i int) bool { return c.Count(text[:i+1]) > room })
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// head begins an object of the answer.
func (c *completion) head(object string) []byte {
	b := jsonspan.AppendQuote([]byte(`{"id":`), c.id)
	b = append(append(append(b, `,"object":"`...), object...), `","created":`...)
	b = strconv.AppendInt(b, c.created, 10)
	b = jsonspan.AppendQuote(append(b, `,"model":`...), c.model)
	return append(b, `,"service_tier":"default"`...)
}

// whole returns the answer as one JSON object.
func (c *completion) whole() []byte {
	b := append(c.head("chat.completion"), `,"choices":[{"index":0,"finish_reason":"`...)
	b = append(append(b, c.finish...), `","logprobs":null,"message":{"role":"assistant","content":`...)
	b = append(append(b, quoteOrNull(c.text)...), `,"refusal":`...)
	b = append(append(b, quoteOrNull(c.refusal)...), `,"annotations":[]`...)
	for i, call := range c.calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(appendCall(b, call, string(call.Input)), '}')
	}
	if len(c.calls) > 0 {
		b = append(b, ']')
	}
	return append(c.appendUsage(append(b, `}}]`...)), '}')
}

// appendCall appends a call without its last brace.
func appendCall(b []byte, call Block, arguments string) []byte {
	if b = append(b, '{'); call.ID != "" {
		b = append(jsonspan.AppendQuote(append(b, `"id":`...), call.ID), `,"type":"function",`...)
	}
	if b = append(b, `"function":{`...); call.Name != "" {
		b = append(jsonspan.AppendQuote(append(b, `"name":`...), call.Name), ',')
	}
	return append(jsonspan.AppendQuote(append(b, `"arguments":`...), arguments), '}')
}

// appendUsage appends the member usage: the prompt is all of it (docs/reference/openai.md, "Usage").
func (c *completion) appendUsage(b []byte) []byte {
	for _, f := range []struct {
		name string
		n    int
	}{
		{`,"usage":{"prompt_tokens":`, c.usage.Prompt()},
		{`,"completion_tokens":`, c.usage.Output},
		{`,"total_tokens":`, c.usage.Prompt() + c.usage.Output},
		{`,"prompt_tokens_details":{"cached_tokens":`, c.usage.CacheRead},
		{`,"cache_write_tokens":`, c.usage.CacheWrite},
		{`,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":`, c.thought},
	} {
		b = strconv.AppendInt(append(b, f.name...), int64(f.n), 10)
	}
	return append(b, `,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`...)
}

// frames returns the answer as a stream: frames without names, and a last one that is not JSON.
func (c *completion) frames(chunk int, usage bool) (out []frame) {
	add := func(delta, finish string) {
		b := append(c.head("chat.completion.chunk"), `,"choices":[{"index":0,"delta":`+delta+`,"finish_reason":`...)
		if b = append(append(b, quoteOrNull(finish)...), `}]`...); usage {
			b = append(b, `,"usage":null`...)
		}
		out = append(out, frame{"", append(b, '}')})
	}
	add(`{"role":"assistant","content":""}`, "")
	for _, d := range pieceDeltas(`{"content":`, c.text, chunk) {
		add(string(d), "")
	}
	for _, d := range pieceDeltas(`{"refusal":`, c.refusal, chunk) {
		add(string(d), "")
	}
	for i, call := range c.calls {
		at := `{"tool_calls":[{"index":` + strconv.Itoa(i) + `,`
		add(at+string(appendCall(nil, call, "")[1:])+`}]}`, "")
		for text := string(call.Input); text != ""; {
			n := min(chunk, len(text))
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
			add(at+string(appendCall(nil, Block{}, text[:n])[1:])+`}]}`, "")
			text = text[n:]
		}
	}
	add(`{}`, c.finish)
	if usage {
		out = append(out, frame{"", append(c.appendUsage(append(c.head("chat.completion.chunk"), `,"choices":[]`...)), '}')})
	}
	return append(out, frame{"", []byte("[DONE]")})
}
