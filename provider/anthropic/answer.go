package anthropic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/dialect"
	messages "github.com/decantdev/decant/internal/dialect/anthropic"
	"github.com/decantdev/decant/internal/sse"
	"github.com/decantdev/decant/provider"
)

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// counts is what the API reports of usage. In a stream the numbers are cumulative, and those that are missing stay.
type counts struct {
	Type   string `json:"type"` // of an iteration
	Input  *int   `json:"input_tokens"`
	Read   *int   `json:"cache_read_input_tokens"`
	Write  *int   `json:"cache_creation_input_tokens"`
	Output *int   `json:"output_tokens"`
	Cache  *struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Iterations []counts `json:"iterations"`
}

// take replaces what v reports newly.
func (u *counts) take(v *counts) {
	u.Input, u.Read = cmp.Or(v.Input, u.Input), cmp.Or(v.Read, u.Read)
	u.Write, u.Output = cmp.Or(v.Write, u.Write), cmp.Or(v.Output, u.Output)
	u.Cache = cmp.Or(v.Cache, u.Cache)
	if v.Iterations != nil {
		u.Iterations = v.Iterations
	}
}

// billed returns what is paid for: the sum of the iterations where there are any, because the other numbers leave out what
// a compaction has used (docs/reference/anthropic.md, "Usage").
func (u *counts) billed() (out decant.Usage) {
	if len(u.Iterations) > 0 {
		for i := range u.Iterations {
			out = out.Add(u.Iterations[i].billed())
		}
		return out
	}
	n := func(p *int) int {
		if p == nil {
			return 0
		}
		return max(0, *p)
	}
	out = decant.Usage{Input: n(u.Input), CacheRead: n(u.Read), CacheWrite: n(u.Write), Output: n(u.Output)}
	if u.Cache != nil {
		out.Write1h = min(max(0, u.Cache.Hour), out.CacheWrite)
	}
	return out
}

// message is what matters of an answer in one piece.
type message struct {
	Model   string         `json:"model"`
	Content jsontext.Value `json:"content"`
	Stop    string         `json:"stop_reason"`
	Usage   counts         `json:"usage"`
}

// read reads an answer.
func (c *Client) read(res *http.Response, heard *listener) (*provider.Answer, error) {
	body := io.LimitReader(res.Body, c.opts.Largest+1)
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" {
		return c.readStream(body, heard)
	}
	src, err := io.ReadAll(body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it broke off: %s", provider.ErrBroken, c.opts.Credential.Hide(err.Error()))
	case int64(len(src)) > c.opts.Largest:
		return nil, fmt.Errorf("%w: it has more than %d bytes", provider.ErrBroken, c.opts.Largest)
	}
	var m message
	if err := json.Unmarshal(src, &m, lenient); err != nil || m.Content.Kind() != '[' {
		return nil, fmt.Errorf("%w: it is not one of the Messages API; is %s its base URL?", provider.ErrBroken, c.opts.Base)
	}
	return answer(&m)
}

// answer returns what a whole message says.
func answer(m *message) (*provider.Answer, error) {
	a := &provider.Answer{Content: m.Content, Stop: m.Stop, Model: m.Model, Usage: m.Usage.billed()}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &blocks, lenient); err != nil {
		return a, fmt.Errorf("%w: its content is not a list of blocks", provider.ErrBroken)
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			a.Text += b.Text
		case "tool_use", "server_tool_use", "mcp_tool_use":
			a.Calls++
		}
	}
	return a, nil
}

// A stream is an answer that comes in events.
type stream struct {
	c     *Client
	m     message
	heard *listener // nil: nobody listens
	fail  error     // that the provider tells of in the middle
	end   bool
}

// readStream reads a stream of events. What it has reported before it broke off is known, too.
func (c *Client) readStream(body io.Reader, heard *listener) (*provider.Answer, error) {
	s := stream{c: c, heard: heard}
	whole := messages.Dialect{}.ReadAnswer(func(int) bool { return true })
	r := sse.Reader{Handle: func(name, data []byte) {
		kind := dialect.KindOfEvent(name, data)
		whole.Event([]byte(kind), data)
		s.event(kind, data)
		heard.event(kind, data)
	}}
	n, err := io.Copy(&r, body)
	known := &provider.Answer{Model: s.m.Model, Usage: s.m.Usage.billed(), Text: heard.text(), Content: heard.content()}
	switch {
	case s.fail != nil:
		return known, s.fail
	case n > c.opts.Largest:
		return known, fmt.Errorf("%w: it has more than %d bytes", provider.ErrBroken, c.opts.Largest)
	case !s.end:
		return known, fmt.Errorf("%w: it broke off: %s", provider.ErrBroken, c.opts.Credential.Hide(errors.Join(io.ErrUnexpectedEOF, err).Error()))
	}
	s.m.Content = whole.Answer().Content
	return answer(&s.m)
}

// event takes an event of a stream.
func (s *stream) event(name string, data []byte) {
	var e struct {
		Message message `json:"message"`
		Delta   struct {
			Stop string `json:"stop_reason"`
		} `json:"delta"`
		Usage counts `json:"usage"`
	}
	switch name {
	case "error":
		s.fail = cmp.Or(s.fail, s.c.refusal(http.StatusOK, bytes.Clone(data), nil))
		return
	case "message_stop":
		s.end = true
		return
	case "message_start", "message_delta":
	default:
		return
	}
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	if name == "message_start" {
		s.m = e.Message
		return
	}
	s.m.Stop = cmp.Or(e.Delta.Stop, s.m.Stop)
	s.m.Usage.take(&e.Usage)
}
