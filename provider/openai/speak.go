package openai

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/openai/openai-go/v3/option"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/sse"
	"github.com/decantdev/decant/provider"
)

// Speak implements provider.Speaker. The API has no place for thinking. Images are shown, those of results as the user's, see
// wire.EncodeShown, unless the model looks at none: then they are named. Nobody says in advance which models do, so the first refusal of an
// image tells, and the turn is said again without.
func (c *Client) Speak(ctx context.Context, t *provider.Turn, heard func(provider.Delta)) (*provider.Answer, error) {
	model := modelOf(t)
	_, blind := c.blind.Load(model)
	body, err := c.translated(t, !blind)
	if err != nil {
		return nil, err
	}
	a, err := c.said(ctx, t, body, heard)
	if err == nil || !bytes.Contains(body, imagePart) || !refusesImages(err) {
		return a, err
	}
	if body, err = c.translated(t, false); err != nil {
		return nil, err
	}
	if a, err = c.said(ctx, t, body, heard); err == nil {
		c.blind.Store(model, true)
	}
	return a, err
}

// imagePart is what a request with an image holds, and no text does: there its quotes would be escaped.
var imagePart = []byte(`"type":"image_url"`)

// aboutImages is how servers say that a model does not look at images.
var aboutImages = regexp.MustCompile(`(?i)image|vision|multi-?modal|mmproj|content part|content type|expected a string|must be a string`)

// refusesImages reports whether an error may mean that the model looks at no images.
func refusesImages(err error) bool {
	f, ok := errors.AsType[*provider.Failure](err)
	if !ok || errors.Is(err, provider.ErrBroken) {
		return false
	}
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusOK:
		return false
	}
	return aboutImages.MatchString(f.Message)
}

// modelOf returns the model of a turn; empty where it names none.
func modelOf(t *provider.Turn) string {
	var asked struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal(t.Body, &asked, lenient) // what is no request is refused where it is translated
	return asked.Model
}

// said sends a body until there is an answer, or none is to be had.
func (c *Client) said(ctx context.Context, t *provider.Turn, body []byte, heard func(provider.Delta)) (*provider.Answer, error) {
	wait := cmp.Or(t.Backoff, c.opts.Backoff)
	tries := option.WithMaxRetries(wait.SDKRetries())
	return wait.Retry(ctx, func() (*provider.Answer, error) {
		s := &stream{tell: heard, hide: c.opts.Credential.Hide}
		a, err := c.stream(ctx, body, tries, s)
		if err != nil && s.heard {
			err = errors.Join(provider.ErrBroken, err) // what was heard cannot be taken back: no other try
		}
		return a, err
	})
}

// stream sends a body and reads the answer while it comes.
func (c *Client) stream(ctx context.Context, body []byte, tries option.RequestOption, s *stream) (*provider.Answer, error) {
	var res *http.Response
	if err := c.sdk.Execute(ctx, http.MethodPost, "chat/completions", body, &res, tries); err != nil {
		return nil, c.failure(err, res)
	}
	defer res.Body.Close()
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		return nil, fmt.Errorf("%w: it is no stream of Chat Completions; is %s the base URL, with its version?", provider.ErrBroken, c.opts.Base)
	}
	r := sse.Reader{Handle: func(_, data []byte) { s.event(data) }}
	n, err := io.Copy(&r, io.LimitReader(res.Body, c.opts.Largest+1))
	switch {
	case s.fail != nil:
		return s.partial(), s.fail
	case n > c.opts.Largest:
		return s.partial(), fmt.Errorf("%w: it has more than %d bytes", provider.ErrBroken, c.opts.Largest)
	case s.finish == "" && ctx.Err() != nil:
		return s.partial(), fmt.Errorf("%w: it broke off: %w", provider.ErrBroken, ctx.Err())
	case s.finish == "":
		return s.partial(), fmt.Errorf("%w: it broke off: %s", provider.ErrBroken, s.hide(errors.Join(io.ErrUnexpectedEOF, err).Error()))
	}
	return s.answer(), nil
}

// A stream is an answer that comes in pieces.
type stream struct {
	tell  func(provider.Delta)
	hide  func(string) string
	heard bool

	all     completion // model and usage, of the last event that has them
	text    []byte
	refused bool
	calls   []call
	finish  string
	fail    error // that the provider tells of in the middle
}

// A call is a call of a tool as far as it has come.
type call struct {
	id, name  string
	arguments []byte
}

// maxCalls bounds the calls of one answer, whatever index a stream names.
const maxCalls = 1000

// chunk is what matters of an event.
type chunk struct {
	completion
	Choices []struct {
		Finish string `json:"finish_reason"`
		Delta  struct {
			Text      string `json:"content"`
			Refusal   string `json:"refusal"`
			Reasoning string `json:"reasoning_content"`
			Calls     []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
	Error *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// event takes an event.
func (s *stream) event(data []byte) {
	var e chunk
	if json.Unmarshal(data, &e, lenient) != nil { // the last one is [DONE]
		return
	}
	if e.Error != nil {
		s.fail = &provider.Failure{Status: http.StatusOK, Kind: s.hide(e.Error.Type), Message: cmp.Or(s.hide(e.Error.Message), "no reason given")}
		return
	}
	s.all.Model = cmp.Or(e.Model, s.all.Model)
	if e.Usage.Prompt > 0 {
		s.all.Usage = e.Usage
	}
	if len(e.Choices) == 0 {
		return
	}
	d := &e.Choices[0].Delta
	s.finish = cmp.Or(e.Choices[0].Finish, s.finish)
	s.text = append(append(s.text, d.Text...), d.Refusal...)
	s.refused = s.refused || d.Refusal != ""
	s.say(provider.Delta{Kind: decant.KindThinking, Text: d.Reasoning})
	s.say(provider.Delta{Kind: decant.KindText, Text: d.Text + d.Refusal})
	for _, piece := range d.Calls {
		s.piece(piece.Index, piece.ID, piece.Function.Name, piece.Function.Arguments)
	}
}

// piece takes a piece of a call.
func (s *stream) piece(i int, id, name, arguments string) {
	if i < 0 || i > len(s.calls) || i >= maxCalls {
		return
	}
	if i == len(s.calls) {
		id = cmp.Or(id, "call_"+rand.Text()) // some servers give none
		s.calls = append(s.calls, call{id: id, name: name})
	} else {
		id, name = "", ""
	}
	s.calls[i].arguments = append(s.calls[i].arguments, arguments...)
	s.say(provider.Delta{Kind: decant.KindUse, ID: id, Name: name, Text: arguments})
}

// say tells of a piece.
func (s *stream) say(d provider.Delta) {
	if d.Text == "" && d.ID == "" {
		return
	}
	s.heard = true
	if s.tell != nil {
		s.tell(d)
	}
}

// answer returns all that came, as content of the Messages API.
func (s *stream) answer() *provider.Answer {
	a := &provider.Answer{Model: s.all.Model, Usage: s.all.usage(), Text: unthought(string(s.text)), Calls: len(s.calls), Stop: stop(s.finish)}
	if s.refused {
		a.Stop = "refusal"
	}
	if len(s.calls) > 0 && a.Stop == "end_turn" {
		a.Stop = "tool_use" // some servers say "stop" behind calls
	}
	a.Content = s.content(a.Text, s.calls)
	return a
}

// partial returns the texts that came before an answer broke off.
func (s *stream) partial() *provider.Answer {
	a := &provider.Answer{Model: s.all.Model, Usage: s.all.usage(), Text: string(s.text)}
	if a.Text != "" {
		a.Content = s.content(a.Text, nil)
	}
	return a
}

// content returns a text and calls as a JSON list of blocks.
func (s *stream) content(text string, calls []call) []byte {
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

// input returns the arguments of a call as an object. What is none becomes the member of one, so that the request that has it stays
// legal and the tool can say what is wrong with it.
func input(arguments []byte) []byte {
	if len(arguments) == 0 {
		return []byte(`{}`)
	}
	if v := jsontext.Value(arguments); v.IsValid() && v.Kind() == jsontext.KindBeginObject {
		return arguments
	}
	return append(jsonspan.AppendQuote([]byte(`{"arguments":`), string(arguments)), '}')
}
