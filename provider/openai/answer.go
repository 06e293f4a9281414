package openai

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
)

// A chunk is an answer in one piece, which has a message, or an event of a stream, which has a delta.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Finish  string `json:"finish_reason"`
		Delta   *piece `json:"delta"`
		Message *piece `json:"message"`
	} `json:"choices"`
	Usage usage          `json:"usage"`
	Error jsontext.Value `json:"error"`
}

// A piece is a part of what a model said, or all of it.
type piece struct {
	Text      prose `json:"content"`
	Refusal   prose `json:"refusal"`
	Thinking  prose `json:"reasoning_content"` // llama.cpp, DeepSeek
	Reasoning prose `json:"reasoning"`         // Ollama, OpenRouter
	Calls     []struct {
		Index    *int     `json:"index"` // missing in messages, and in streams of some servers
		ID       string   `json:"id"`
		Function function `json:"function"`
	} `json:"tool_calls"`
	Call *function `json:"function_call"` // of older servers, which make one call at a time
}

// A function is what a call calls.
type function struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// prose is text as servers write it: a string, a list of parts, or null.
type prose string

// UnmarshalJSON implements json.Unmarshaler.
func (p *prose) UnmarshalJSON(src []byte) error {
	switch jsontext.Value(src).Kind() {
	case jsontext.KindString:
		return json.Unmarshal(src, (*string)(p), lenient)
	case jsontext.KindBeginArray:
		var parts []struct {
			Text string `json:"text"`
		}
		err := json.Unmarshal(src, &parts, lenient)
		for _, part := range parts {
			*p += prose(part.Text)
		}
		return err
	}
	return nil
}

// arguments are those of a call: JSON in a string, or with some servers the object itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(src []byte) error {
	if jsontext.Value(src).Kind() == jsontext.KindString {
		return json.Unmarshal(src, (*string)(a), lenient)
	}
	if jsontext.Value(src).Kind() != jsontext.KindNull {
		*a = arguments(src) // input says what becomes of a value that is not an object
	}
	return nil
}

// usage is what a server reports. The prompt includes what was read from the cache and written to it.
type usage struct {
	Prompt  int `json:"prompt_tokens"`
	Output  int `json:"completion_tokens"`
	Details struct {
		Read  int `json:"cached_tokens"`
		Write int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// billed returns what is paid for.
func (u *usage) billed() decant.Usage {
	read := min(max(0, u.Details.Read), max(0, u.Prompt))
	write := min(max(0, u.Details.Write), max(0, u.Prompt)-read)
	return decant.Usage{
		Input: max(0, u.Prompt) - read - write, CacheRead: read, CacheWrite: write, Output: max(0, u.Output),
	}
}

// A reading puts an answer together from its pieces.
type reading struct {
	heard func(provider.Delta) // nil: nobody listens
	hide  func(string) string

	model   string
	usage   usage
	text    []byte
	refused bool
	calls   []call
	finish  string
	begun   bool   // there was a choice
	ended   bool   // there was a reason to stop, or the end of the stream
	failed  error  // that the server reports in the place of an answer, or in the middle of one
	unread  string // the beginning of an event that cannot be read
}

// A call is a call of a tool as far as it has come.
type call struct {
	index     *int
	id, name  string
	arguments []byte
}

// take reads an answer in one piece or an event of a stream. It reports whether it is one.
func (r *reading) take(src []byte) bool {
	if len(src) == 0 || string(src) == "[DONE]" {
		r.ended = r.ended || r.begun && len(src) > 0 // some servers give no reason to stop
		return true
	}
	var c chunk
	if json.Unmarshal(src, &c, lenient) != nil {
		r.unread = cmp.Or(r.unread, string(src[:min(len(src), mostShown)]))
		return false
	}
	if len(c.Error) > 0 && c.Error.Kind() != jsontext.KindNull {
		p := readProblem(c.Error)
		r.failed = p.describe(&provider.Failure{Status: http.StatusOK}, r.hide)
		return true
	}
	r.model = cmp.Or(c.Model, r.model)
	if c.Usage.Prompt > 0 {
		r.usage = c.Usage
	}
	if len(c.Choices) == 0 {
		return c.Choices != nil
	}
	r.begun = true
	r.finish = cmp.Or(c.Choices[0].Finish, r.finish)
	r.ended = r.ended || r.finish != ""
	if p := cmp.Or(c.Choices[0].Delta, c.Choices[0].Message); p != nil {
		r.piece(p)
	}
	return true
}

// piece adds a piece.
func (r *reading) piece(p *piece) {
	said := string(p.Text)
	if r.heard != nil {
		said += string(p.Refusal) // who listens reads why; a record must not contain it
	}
	r.text = append(r.text, said...)
	r.refused = r.refused || p.Refusal != ""
	r.tell(provider.Delta{Kind: decant.KindThinking, Text: string(cmp.Or(p.Thinking, p.Reasoning))})
	r.tell(provider.Delta{Kind: decant.KindText, Text: said})
	for _, c := range p.Calls {
		r.call(c.Index, c.ID, &c.Function)
	}
	if p.Call != nil {
		r.call(nil, "", p.Call)
	}
}

// mostShown is how much of an event an error shows, in bytes.
const mostShown = 100

// maxCalls bounds the calls of one answer.
const maxCalls = 1000

// call adds a piece of a call. Only the first piece of a call has an id and a name.
func (r *reading) call(index *int, id string, f *function) {
	i := r.find(index)
	if i < 0 || r.calls[i].another(index, id, f.Name) {
		if len(r.calls) == maxCalls {
			return
		}
		if id == "" || slices.ContainsFunc(r.calls, func(c call) bool { return c.id == id }) {
			id = "call_" + rand.Text() // some servers give none, or the same for all
		}
		i = len(r.calls)
		r.calls = append(r.calls, call{index: index, id: id, name: f.Name})
	} else {
		id, f.Name = "", ""
	}
	r.calls[i].arguments = append(r.calls[i].arguments, f.Arguments...)
	r.tell(provider.Delta{Kind: decant.KindUse, ID: id, Name: f.Name, Text: string(f.Arguments)})
}

// find returns the newest call with an index, or the newest of all for a piece without one; -1: there is none.
func (r *reading) find(index *int) int {
	for i := len(r.calls) - 1; i >= 0; i-- {
		if of := r.calls[i].index; index == nil || of != nil && *of == *index {
			return i
		}
	}
	return -1
}

// another reports whether a piece begins another call than c, which has the same index, as all have with some servers, or
// none.
func (c *call) another(index *int, id, name string) bool {
	switch {
	case name == "":
		return index == nil && id != "" && id != c.id
	case id != "" && id != c.id:
		return true
	case index == nil && len(c.arguments) == 0:
		return true
	}
	return jsontext.Value(c.arguments).IsValid() // c is complete
}

// tell passes on a piece that says something.
func (r *reading) tell(d provider.Delta) {
	if r.heard != nil && (d.Text != "" || d.ID != "") {
		r.heard(d)
	}
}

// answer returns all of an answer, with content in the form of the Messages API.
func (r *reading) answer() *provider.Answer {
	a := &provider.Answer{
		Model: r.model, Usage: r.usage.billed(), Text: unthought(string(r.text)), Calls: len(r.calls), Stop: stop(r.finish),
	}
	switch {
	case r.refused:
		a.Stop = "refusal"
	case len(r.calls) > 0 && (a.Stop == "end_turn" || a.Stop == ""):
		a.Stop = "tool_use" // some servers say "stop" behind calls
	}
	a.Content = content(a.Text, r.calls)
	return a
}

// partial returns the text that came before an answer broke off. A call without its end cannot be made.
func (r *reading) partial() *provider.Answer {
	a := &provider.Answer{Model: r.model, Usage: r.usage.billed(), Text: string(r.text)}
	if a.Text != "" {
		a.Content = content(a.Text, nil)
	}
	return a
}

// content returns a text and calls as a JSON list of blocks.
func content(text string, calls []call) []byte {
	b := []byte{'['}
	if text != "" {
		b = append(jsonspan.AppendQuote(append(b, `{"type":"text","text":`...), text), '}')
	}
	for _, c := range calls {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = jsonspan.AppendQuote(append(b, `{"type":"tool_use","id":`...), c.id)
		b = jsonspan.AppendQuote(append(b, `,"name":`...), c.name)
		b = append(append(append(b, `,"input":`...), input(c.arguments)...), '}')
	}
	return append(b, ']')
}

// input returns the arguments of a call as an object. Anything else becomes the member of one, so that the next request
// stays legal and the tool can report what is wrong.
func input(arguments []byte) []byte {
	if len(arguments) == 0 {
		return []byte(`{}`)
	}
	if v := jsontext.Value(arguments); v.IsValid() && v.Kind() == jsontext.KindBeginObject {
		return arguments
	}
	return append(jsonspan.AppendQuote([]byte(`{"arguments":`), string(arguments)), '}')
}

// unthought returns text without the thinking that some local models put before it.
func unthought(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n"), "<think>")
	if _, said, closed := strings.Cut(rest, "</think>"); ok && closed {
		return strings.TrimLeft(said, "\n")
	}
	return text
}

// stop translates why a model stopped into the words of the Messages API.
func stop(finish string) string {
	switch finish {
	case "stop":
		return "end_turn"
	case "length":
		return "max_tokens"
	case "tool_calls", "function_call":
		return "tool_use"
	case "content_filter":
		return "refusal"
	}
	return finish
}
