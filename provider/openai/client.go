// Package openai asks models over Chat Completions: those of OpenAI, and those of the servers that speak the same API,
// such as llama.cpp, Ollama and vLLM.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/sse"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// Options configures a Client.
type Options struct {
	// Base is the base URL of the API, with its version: http://127.0.0.1:11434/v1. Empty means OpenAI's own.
	Base string

	// Credential says whose calls these are. The zero value sends none, for servers that need none.
	Credential provider.Credential

	// Transport carries the calls. Nil means http.DefaultTransport.
	Transport http.RoundTripper

	// Backoff says when a failed call is made again, where the request does not say.
	Backoff provider.Backoff

	// Largest is the largest answer that is read, in bytes. Zero means 8 MB.
	Largest int64

	// Catalog knows the models. Nil means the built-in one.
	Catalog *token.Catalog
}

// defaultBase is the base URL of OpenAI's own API.
const defaultBase = "https://api.openai.com/v1"

// A Client asks models over Chat Completions. It is safe for concurrent use. A call has no time limit but that of its
// context, since a local model may take minutes before its first word.
type Client struct {
	opts Options
	own  bool // OpenAI's own API, or Microsoft's
	http *http.Client

	blind sync.Map // models that have refused an image
}

var (
	_ provider.Client  = (*Client)(nil)
	_ provider.Checker = (*Client)(nil)
	_ provider.Speaker = (*Client)(nil)
)

// New returns a client. It reads nothing from the environment.
func New(o Options) (*Client, error) {
	o.Base = strings.TrimRight(cmp.Or(o.Base, defaultBase), "/")
	if err := modelhttp.CheckBase(o.Base); err != nil {
		return nil, err
	}
	o.Largest = cmp.Or(o.Largest, 8<<20)
	if o.Catalog == nil {
		var err error
		if o.Catalog, err = token.Builtin(); err != nil {
			return nil, err
		}
	}
	return &Client{opts: o, own: isOwn(o.Base), http: modelhttp.Client(o.Transport, o.Credential)}, nil
}

// isOwn reports whether a base URL is that of OpenAI's own API or of Microsoft's, which have dropped old names that other
// servers still need.
func isOwn(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".azure.com")
}

// Ask implements provider.Client.
func (c *Client) Ask(ctx context.Context, r *provider.Request) (*provider.Answer, error) {
	body := r.Body
	if body == nil {
		body = c.body(r)
	}
	return modelhttp.Retry(ctx, cmp.Or(r.Backoff, c.opts.Backoff), func() (*provider.Answer, error) {
		return c.complete(ctx, body, nil)
	})
}

// Speak implements provider.Speaker. The API has no place for thinking. Images are sent, those of results as the user's
// (see wire.EncodeShown). No server says in advance whether a model takes images: after the first refusal of one, the turn
// is sent with a line in the place of each image, and so are later turns of that model.
func (c *Client) Speak(ctx context.Context, t *provider.Turn, heard func(provider.Delta)) (*provider.Answer, error) {
	if heard == nil {
		heard = func(provider.Delta) {}
	}
	model := modelOf(t)
	_, blind := c.blind.Load(model)
	body, err := c.translated(t, !blind)
	if err != nil {
		return nil, err
	}
	a, err := c.speak(ctx, t, body, heard)
	if err == nil || !bytes.Contains(body, imagePart) || !refusesImages(err) {
		return a, err
	}
	if body, err = c.translated(t, false); err != nil {
		return nil, err
	}
	if a, err = c.speak(ctx, t, body, heard); err == nil {
		c.blind.Store(model, true)
	}
	return a, err
}

// speak sends the body of a turn, again if need be as long as nothing was heard.
func (c *Client) speak(ctx context.Context, t *provider.Turn, body []byte, heard func(provider.Delta)) (*provider.Answer, error) {
	return modelhttp.Retry(ctx, cmp.Or(t.Backoff, c.opts.Backoff), func() (*provider.Answer, error) {
		any := false
		a, err := c.complete(ctx, body, func(d provider.Delta) {
			any = true
			heard(d)
		})
		if err != nil && any {
			err = errors.Join(provider.ErrBroken, err) // what was heard cannot be taken back
		}
		return a, err
	})
}

// Check implements provider.Checker. It reads the list of models, which all servers have.
func (c *Client) Check(ctx context.Context, model string) error {
	res, err := modelhttp.Retry(ctx, provider.Backoff{}, func() (*http.Response, error) {
		return c.send(ctx, http.MethodGet, "/models", nil)
	})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	src, err := c.readAll(ctx, res.Body)
	if err != nil {
		return err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(src, &list, lenient) != nil {
		return c.unlike("a list of models")
	}
	for _, m := range list.Data {
		if m.ID == model {
			return nil
		}
	}
	return fmt.Errorf("%s does not list the model %s", c.opts.Base, model)
}

// complete sends a body and reads the answer, which comes as a stream or in one piece as the server likes.
func (c *Client) complete(ctx context.Context, body []byte, heard func(provider.Delta)) (*provider.Answer, error) {
	res, err := c.send(ctx, http.MethodPost, "/chat/completions", body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	r := &reading{heard: heard, hide: c.opts.Credential.Hide}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" {
		return c.readStream(ctx, res.Body, r)
	}
	src, err := c.readAll(ctx, res.Body)
	if err != nil {
		return nil, err
	}
	switch ok := r.take(src); {
	case r.failed != nil:
		return r.partial(), r.failed
	case !ok:
		return nil, c.unlike("an answer of Chat Completions")
	case !r.begun:
		return r.partial(), fmt.Errorf("%w: it has no choice", provider.ErrBroken)
	}
	return r.answer(), nil
}

// readStream reads an answer while it comes.
func (c *Client) readStream(ctx context.Context, body io.Reader, r *reading) (*provider.Answer, error) {
	events := sse.Reader{Handle: func(_, data []byte) { r.take(data) }}
	n, err := io.Copy(&events, io.LimitReader(body, c.opts.Largest+1))
	switch {
	case r.failed != nil:
		return r.partial(), r.failed
	case n > c.opts.Largest:
		return r.partial(), c.tooLarge()
	case r.unread != "":
		return r.partial(), fmt.Errorf("%w: an event of it cannot be read: %q", provider.ErrBroken, c.opts.Credential.Hide(r.unread))
	case !r.ended:
		return r.partial(), c.brokeOff(ctx, errors.Join(io.ErrUnexpectedEOF, err))
	}
	return r.answer(), nil
}

// send makes one call. The caller closes the body of the answer. Answers with an error status are failures.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.opts.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, modelhttp.Unanswered(c.opts.Base, err, c.opts.Credential)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "decant")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, modelhttp.Unanswered(c.opts.Base, err, c.opts.Credential)
	}
	if res.StatusCode < http.StatusBadRequest {
		return res, nil
	}
	defer res.Body.Close()
	src, err := io.ReadAll(res.Body)
	if err != nil {
		src = nil // the status counts without its reason
	}
	return nil, c.refusal(res, src)
}

// readAll reads an answer in one piece.
func (c *Client) readAll(ctx context.Context, body io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(body, c.opts.Largest+1))
	switch {
	case err != nil:
		return nil, c.brokeOff(ctx, err)
	case int64(len(src)) > c.opts.Largest:
		return nil, c.tooLarge()
	}
	return src, nil
}

func (c *Client) brokeOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: it broke off: %w", provider.ErrBroken, ctx.Err())
	}
	return fmt.Errorf("%w: it broke off: %s", provider.ErrBroken, c.opts.Credential.Hide(err.Error()))
}

func (c *Client) tooLarge() error {
	return fmt.Errorf("%w: it has more than %d bytes", provider.ErrBroken, c.opts.Largest)
}

func (c *Client) unlike(what string) error {
	return fmt.Errorf("%w: it is not %s; is %s the base URL, with its version?", provider.ErrBroken, what, c.opts.Base)
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
