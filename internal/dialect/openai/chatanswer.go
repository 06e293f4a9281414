package openai

import (
	"cmp"
	"strings"

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
	came   int  // bytes of what was said in all choices, kept or not
	texts  [len(chatTexts)][]byte
	calls  []calling
	old    calling // of the member function_call
	called bool    // there is such a member
	raw    []byte  // of an object that broke off
	failed bool    // an error has come
	ended  bool
	over   bool // the last frame has come
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

// function returns what is called, and with which arguments.
func (c *chatCall) function() *chatCall {
	switch {
	case c.Custom != nil:
		return &chatCall{Name: c.Custom.Name, Args: looseText(c.Custom.Input)}
	case c.Function != nil:
		return c.Function
	}
	return &chatCall{}
}

// A calling is a call that is put together from its parts.
type calling struct {
	id, kind   string
	name, args []byte
}

// add adds what a part says of the function.
func (c *calling) add(f *chatCall) {
	c.name, c.args = append(c.name, f.Name...), append(c.args, f.Args...)
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

// said returns how many bytes a message, or a part of one, says.
func (m *chatMessage) said() int {
	n := len(textOf(m.Content)) + len(cmp.Or(m.Reasoning, m.Router)) + len(m.Refusal)
	for i := range m.Calls {
		f := m.Calls[i].function()
		n += len(m.Calls[i].ID) + len(f.Name) + len(f.Args)
	}
	if m.Call != nil {
		n += len(m.Call.Name) + len(m.Call.Args)
	}
	return n
}

// A completion is an answer, or a part of one.
type completion struct {
	Choices []struct {
		Index   int         `json:"index"`
		Message chatMessage `json:"message"`
		Delta   chatMessage `json:"delta"`
		Finish  string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage     `json:"usage"`
	Error jsontext.Value `json:"error"`
}

// failed reports whether an error stands in place of an answer.
func (c *completion) failed() bool { return c.Error.Kind() != 0 && c.Error.Kind() != 'n' }

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Event implements dialect.AnswerReader. Usage comes with the reason to stop or behind it, and is the end where a
// server sends no last frame.
func (a *chatAnswer) Event(name, data []byte) {
	if string(data) == "[DONE]" {
		a.ended, a.over = a.stop != "", true
		return
	}
	var c completion
	a.failed = a.failed || string(name) == "error"
	if string(name) != "message" || json.Unmarshal(data, &c, lenient) != nil {
		return
	}
	a.bill(c.Usage)
	a.failed = a.failed || c.failed()
	for i := range c.Choices {
		if x := &c.Choices[i]; x.Index == 0 {
			a.take(&x.Delta)
			a.stop = cmp.Or(x.Finish, a.stop)
		} else {
			a.came += x.Delta.said()
		}
	}
	a.ended = a.ended || a.billed && a.stop != ""
}

// Ended implements dialect.AnswerReader. Usage may stand behind the reason to stop.
func (a *chatAnswer) Ended() bool { return a.over }

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
		if a.failed = c.failed(); !a.failed {
			a.raw = src
		}
		return
	}
	a.bill(c.Usage)
	for i := range c.Choices[1:] {
		a.came += c.Choices[1+i].Message.said()
	}
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
		a.old.add(m.Call)
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
		var text strings.Builder
		for _, p := range parts {
			text.WriteString(p.Text)
		}
		return text.String()
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
	f := c.function()
	if !a.room(len(c.ID)+len(f.Name)+len(f.Args)) || at < 0 || at > len(a.calls) || at >= maxCalls {
		return
	}
	if at == len(a.calls) {
		a.calls = append(a.calls, calling{})
	}
	to := &a.calls[at]
	to.id, to.kind = cmp.Or(to.id, c.ID), cmp.Or(to.kind, c.Type)
	to.add(f)
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
	out := dialect.Answer{Usage: a.usage.tokens(), Came: a.came}
	if !a.ended {
		out.Broken, out.Partial = true, a.partial()
		out.Refused = a.failed && !a.billed && a.came == 0
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
		out = append(append(append(out, c.id...), c.name...), c.args...)
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
func (c *calling) append(out []byte) []byte {
	kind, arguments := cmp.Or(c.kind, "function"), "arguments"
	if kind == "custom" {
		arguments = "input"
	}
	out = jsonspan.AppendQuote(append(out, `{"id":`...), c.id)
	out = jsonspan.AppendQuote(append(out, `,"type":`...), kind)
	out = append(jsonspan.AppendQuote(append(out, ','), kind), ':')
	return append(appendFunction(out, arguments, c), '}')
}

// appendFunction appends what is called, and with which arguments.
func appendFunction(out []byte, arguments string, c *calling) []byte {
	out = jsonspan.AppendQuote(append(out, `{"name":`...), string(c.name))
	out = append(out, `,"`+arguments+`":`...)
	return append(jsonspan.AppendQuote(out, string(c.args)), '}')
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
