package openai

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/jsonspan"
)

// A chatAnswer is what the model said in its first choice, put together from what passed by.
type chatAnswer struct {
	keep   func(n int) bool
	lost   bool // it was too large: nothing of its content is kept
	usage  chatUsage
	stop   string
	billed bool // usage has come
	came   int  // bytes of what was said, kept or not
	texts  [len(chatTexts)][]byte
	calls  []chatCall
	old    chatCall // of the member function_call
	called bool     // there is such a member
	raw    []byte   // of an object that broke off
	ended  bool
}

// ReadAnswer implements dialect.Answers.
func (Chat) ReadAnswer(room func(n int) bool) dialect.AnswerReader { return &chatAnswer{keep: room} }

// chatTexts are the members of a message that hold text, in the order in which they are written.
var chatTexts = [...]string{"content", "reasoning_content", "refusal"}

// A chatCall is a call, or a part of one.
type chatCall struct {
	Index    *int      `json:"index"`
	ID       string    `json:"id"`
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Args     looseText `json:"arguments"`
	Function *chatCall `json:"function"`
	Custom   *struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

// A looseText is text that some servers give as an object, which it then is the source of.
type looseText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *looseText) UnmarshalJSON(raw []byte) error {
	switch v := jsontext.Value(raw); v.Kind() {
	case 'n':
	case '"':
		*t = looseText(jsonspan.Unquote(raw))
	default:
		*t = looseText(raw)
	}
	return nil
}

// A chatMessage is the message of an answer, or a part of it.
type chatMessage struct {
	Content   jsontext.Value `json:"content"`
	Reasoning string         `json:"reasoning_content"`
	Router    string         `json:"reasoning"` // as OpenRouter names it
	Refusal   string         `json:"refusal"`
	Calls     []chatCall     `json:"tool_calls"`
	Call      *chatCall      `json:"function_call"`
}

// A completion is an answer, or a part of one.
type completion struct {
	Choices []struct {
		Index   int         `json:"index"`
		Message chatMessage `json:"message"`
		Delta   chatMessage `json:"delta"`
		Finish  string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage `json:"usage"`
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Event implements dialect.AnswerReader. Usage comes with the reason to stop or behind it, and is the end where a
// server sends no last frame.
func (a *chatAnswer) Event(name, data []byte) {
	if string(data) == "[DONE]" {
		a.ended = a.stop != ""
		return
	}
	var c completion
	if string(name) != "message" || json.Unmarshal(data, &c, lenient) != nil {
		return
	}
	a.bill(c.Usage)
	for i := range c.Choices {
		if x := &c.Choices[i]; x.Index == 0 {
			a.take(&x.Delta)
			a.stop = cmp.Or(x.Finish, a.stop)
		}
	}
	a.ended = a.ended || a.billed && a.stop != ""
}

// bill takes usage, of which the newest counts.
func (a *chatAnswer) bill(u *chatUsage) {
	if u != nil {
		a.usage, a.billed = *u, true
	}
}

// Object implements dialect.AnswerReader.
func (a *chatAnswer) Object(src []byte) {
	var c completion
	if json.Unmarshal(src, &c, lenient) != nil || len(c.Choices) == 0 {
		a.raw = src
		return
	}
	a.bill(c.Usage)
	a.take(&c.Choices[0].Message)
	a.stop, a.ended = c.Choices[0].Finish, true
}

// take adds a part of the message.
func (a *chatAnswer) take(m *chatMessage) {
	for i, text := range []string{textOf(m.Content), cmp.Or(m.Reasoning, m.Router), m.Refusal} {
		if a.room(len(text)) {
			a.texts[i] = append(a.texts[i], text...)
		}
	}
	for i := range m.Calls {
		a.call(&m.Calls[i], i)
	}
	if m.Call != nil && a.room(len(m.Call.Name)+len(m.Call.Args)) {
		a.called = true
		a.old.Name, a.old.Args = a.old.Name+m.Call.Name, a.old.Args+m.Call.Args
	}
}

// textOf returns the text of a content: a string, or a list with parts of text.
func textOf(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return jsonspan.Unquote(v)
	case '[':
		var parts []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(v, &parts, lenient) != nil {
			return ""
		}
		text := ""
		for _, p := range parts {
			text += p.Text
		}
		return text
	}
	return ""
}

// maxCalls bounds the calls of one answer, whatever index a stream names.
const maxCalls = 10_000

// call adds a part of a call. One without an index is a whole one, in its place of the list.
func (a *chatAnswer) call(c *chatCall, at int) {
	if c.Index != nil {
		at = *c.Index
	}
	if c.Custom != nil {
		c.Function = &chatCall{Name: c.Custom.Name, Args: looseText(c.Custom.Input)}
	}
	f := c.Function
	if f == nil {
		f = &chatCall{}
	}
	if at < 0 || at > len(a.calls) || at >= maxCalls || !a.room(len(c.ID)+len(f.Name)+len(f.Args)) {
		return
	}
	if at == len(a.calls) {
		a.calls = append(a.calls, chatCall{})
	}
	to := &a.calls[at]
	to.ID, to.Type = cmp.Or(to.ID, c.ID), cmp.Or(to.Type, c.Type)
	to.Name, to.Args = to.Name+f.Name, to.Args+f.Args
}

// room reports whether n bytes more of what was said may be kept, and lets go of what there is when they may not.
func (a *chatAnswer) room(n int) bool {
	if a.came += n; a.lost || n > 0 && !a.keep(n) {
		a.lost, a.texts, a.calls, a.called = true, [len(chatTexts)][]byte{}, nil, false
		return false
	}
	return true
}

// Answer implements dialect.AnswerReader.
func (a *chatAnswer) Answer() dialect.Answer {
	out := dialect.Answer{Usage: a.usage.tokens()}
	if !a.ended {
		out.Broken, out.Partial, out.Came = true, a.partial(), a.came
		return out
	}
	if out.Stop = a.stop; !a.lost {
		out.Content = a.message()
	}
	return out
}

// partial returns what was said, as far as it was kept.
func (a *chatAnswer) partial() (out []byte) {
	out = append(out, a.raw...)
	for _, t := range a.texts {
		out = append(out, t...)
	}
	for _, c := range append(a.calls, a.old) {
		out = append(append(append(out, c.ID...), c.Name...), c.Args...)
	}
	return out
}

// message returns the answer as a client sends it back.
func (a *chatAnswer) message() []byte {
	out := []byte(`{"role":"assistant"`)
	for i, t := range a.texts {
		switch {
		case len(t) > 0:
			out = jsonspan.AppendQuote(append(out, `,"`+chatTexts[i]+`":`...), string(t))
		case i == 0:
			out = append(out, `,"content":null`...)
		}
	}
	for i := range a.calls {
		if i == 0 {
			out = append(out, `,"tool_calls":[`...)
		} else {
			out = append(out, ',')
		}
		out = a.calls[i].append(out)
	}
	if len(a.calls) > 0 {
		out = append(out, ']')
	}
	if a.called {
		out = appendFunction(append(out, `,"function_call":`...), "arguments", &a.old)
	}
	return append(out, '}')
}

// append appends the call as an element of tool_calls.
func (c *chatCall) append(out []byte) []byte {
	kind, arguments := cmp.Or(c.Type, "function"), "arguments"
	if kind == "custom" {
		arguments = "input"
	}
	out = jsonspan.AppendQuote(append(out, `{"id":`...), c.ID)
	out = jsonspan.AppendQuote(append(out, `,"type":`...), kind)
	out = append(jsonspan.AppendQuote(append(out, ','), kind), ':')
	return append(appendFunction(out, arguments, c), '}')
}

// appendFunction appends what is called, and with which arguments.
func appendFunction(out []byte, arguments string, c *chatCall) []byte {
	out = jsonspan.AppendQuote(append(out, `{"name":`...), c.Name)
	out = append(out, `,"`+arguments+`":`...)
	return append(jsonspan.AppendQuote(out, string(c.Args)), '}')
}

// chatUsage is what the API reports. The prompt is all of it, what was read from the cache and written to it
// included (docs/reference/openai.md, "Usage").
type chatUsage struct {
	Prompt  int `json:"prompt_tokens"`
	Output  int `json:"completion_tokens"`
	Hit     int `json:"prompt_cache_hit_tokens"` // as DeepSeek names what was read
	Details struct {
		Read  int `json:"cached_tokens"`
		Write int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// tokens returns the numbers, of which none is below zero.
func (u *chatUsage) tokens() decant.Usage {
	prompt := max(0, u.Prompt)
	read := min(max(0, u.Details.Read, u.Hit), prompt)
	write := min(max(0, u.Details.Write), prompt-read)
	return decant.Usage{Input: prompt - read - write, CacheRead: read, CacheWrite: write, Output: max(0, u.Output)}
}
