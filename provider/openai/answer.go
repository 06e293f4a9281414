package openai

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/provider"
)

// body returns a request for one answer, without tools.
func (c *Client) body(r *provider.Request) []byte {
	b := append(jsonspan.AppendQuote([]byte(`{"model":`), r.Model), c.limit()...)
	b = strconv.AppendInt(b, int64(r.MaxTokens), 10)
	if m, _ := c.opts.Catalog.Lookup(r.Model); r.Cool && (!c.own || m.TakesTemperature()) {
		b = append(b, `,"temperature":0`...)
	}
	b = append(b, `,"messages":[`...)
	if r.System != "" {
		b = append(jsonspan.AppendQuote(append(b, `{"role":"system","content":`...), r.System), "},"...)
	}
	b = jsonspan.AppendQuote(append(b, `{"role":"user","content":`...), r.Prompt)
	return append(b, `}]}`...)
}

// newLimit is how OpenAI's own API writes the limit of an answer. Other servers keep the old name.
const newLimit = `,"max_completion_tokens":`

// limit returns how the limit of an answer is written.
func (c *Client) limit() string {
	if c.own {
		return newLimit
	}
	return `,"max_tokens":`
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// completion is what matters of an answer.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		Finish  string         `json:"finish_reason"`
		Message jsontext.Value `json:"message"`
	} `json:"choices"`
	Usage struct {
		Prompt  int `json:"prompt_tokens"`
		Output  int `json:"completion_tokens"`
		Details struct {
			Read  int `json:"cached_tokens"`
			Write int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// message is what a model said.
type message struct {
	Content jsontext.Value   `json:"content"` // a text, or parts
	Refusal string           `json:"refusal"`
	Calls   []jsontext.Value `json:"tool_calls"`
}

// answer reads an answer.
func (c *Client) answer(src []byte) (*provider.Answer, error) {
	var o completion
	if err := json.Unmarshal(src, &o, lenient); err != nil || o.Choices == nil {
		return nil, fmt.Errorf("%w: it is not one of Chat Completions; is %s the base URL, with its version?", provider.ErrBroken, c.opts.Base)
	}
	a := &provider.Answer{Model: o.Model, Usage: o.usage()}
	if len(o.Choices) == 0 {
		return a, fmt.Errorf("%w: it has no choice", provider.ErrBroken)
	}
	var m message
	if err := json.Unmarshal(o.Choices[0].Message, &m, lenient); err != nil {
		return a, fmt.Errorf("%w: its message is not in the form of Chat Completions", provider.ErrBroken)
	}
	a.Content, a.Text, a.Calls = o.Choices[0].Message, unthought(m.text()), len(m.Calls)
	a.Stop = stop(o.Choices[0].Finish)
	if m.Refusal != "" {
		a.Stop = "refusal"
	}
	return a, nil
}

// usage returns what is paid for: what the API calls the prompt is all of it.
func (o *completion) usage() decant.Usage {
	u := &o.Usage
	read := min(max(0, u.Details.Read), max(0, u.Prompt))
	write := min(max(0, u.Details.Write), max(0, u.Prompt)-read)
	return decant.Usage{Input: max(0, u.Prompt) - read - write, CacheRead: read, CacheWrite: write, Output: max(0, u.Output)}
}

// text returns the text of a message.
func (m *message) text() (out string) {
	var parts []struct {
		Text string `json:"text"`
	}
	switch m.Content.Kind() {
	case '"':
		return jsonspan.Unquote(m.Content[1 : len(m.Content)-1])
	case '[':
		if json.Unmarshal(m.Content, &parts, lenient) == nil {
			for _, p := range parts {
				out += p.Text
			}
		}
	}
	return out
}

// unthought returns text without the thinking that some local models put before it.
func unthought(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n"), "<think>")
	if _, said, closed := strings.Cut(rest, "</think>"); ok && closed {
		return strings.TrimLeft(said, "\n")
	}
	return text
}

// stop says in the words of the Messages API why a model stopped.
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

// unpaid are codes of status 429 that waiting does not help against.
var unpaid = []string{"insufficient_quota", "project_spend_limit_exceeded", "organization_spend_limit_exceeded", "credit_balance_exhausted"}

// refusal returns the error of an answer with another status than 200.
func (c *Client) refusal(status int, body []byte) *provider.Failure {
	var e struct {
		Error struct {
			Type    string         `json:"type"`
			Message string         `json:"message"`
			Code    jsontext.Value `json:"code"` // a word, or with some servers the status
		} `json:"error"`
	}
	json.Unmarshal(body, &e, lenient) // what is not JSON says nothing that may be repeated
	code := strings.Trim(string(e.Error.Code), `"`)
	if e.Error.Code.Kind() != '"' {
		code = ""
	}
	hide := c.opts.Credential.Hide
	return &provider.Failure{
		Status: status, Kind: hide(cmp.Or(code, e.Error.Type)), Message: cmp.Or(hide(e.Error.Message), "no reason given"),
		Refused: slices.Contains(unpaid, code) || status >= http.StatusBadRequest && !provider.Transient(status),
	}
}
