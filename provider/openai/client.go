// Package openai asks models over Chat Completions, by the official SDK: OpenAI's own, and those of the servers that
// understand it, such as llama.cpp, Ollama and vLLM.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// Options configures a Client.
type Options struct {
	// Base is the base URL of the API, with its version: http://127.0.0.1:11434/v1. Empty means OpenAI's own.
	Base string

	// Credential says whose calls these are. The zero value is none, for servers that want none.
	Credential provider.Credential

	// Transport carries the calls. Nil means http.DefaultTransport.
	Transport http.RoundTripper

	// Backoff is how long to wait before a call is tried again, where the request does not say. The zero value leaves it
	// to the SDK.
	Backoff provider.Backoff

	// Largest is the largest answer that is read, in bytes. Zero means 8 MB.
	Largest int64

	// Catalog knows the models. Nil means the built-in one.
	Catalog *token.Catalog
}

// defaultBase is the base URL of OpenAI's own API.
const defaultBase = "https://api.openai.com/v1"

// A Client asks models over Chat Completions. It is safe for concurrent use.
type Client struct {
	opts Options
	own  bool // OpenAI's own API, or Microsoft's
	sdk  sdk.Client

	blind sync.Map // models that look at no images
}

var (
	_ provider.Client  = (*Client)(nil)
	_ provider.Checker = (*Client)(nil)
	_ provider.Speaker = (*Client)(nil)
)

// New returns a client.
func New(o Options) (*Client, error) {
	if o.Base == "" {
		o.Base = defaultBase
	}
	if err := provider.CheckBase(o.Base); err != nil {
		return nil, err
	}
	if o.Largest == 0 {
		o.Largest = 8 << 20
	}
	if o.Catalog == nil {
		var err error
		if o.Catalog, err = token.Builtin(); err != nil {
			return nil, err
		}
	}
	c := &Client{opts: o, own: isOwn(o.Base)}
	opts := []option.RequestOption{
		option.WithBaseURL(o.Base), option.WithHTTPClient(provider.HTTP(o.Transport, o.Credential)),
	}
	c.sdk = sdk.Client{Options: opts} // NewClient would add keys, headers and an address from the environment
	return c, nil
}

// isOwn reports whether a base URL is that of OpenAI's own API or of Microsoft's, which have left old names behind that
// other servers still need.
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
	wait := cmp.Or(r.Backoff, c.opts.Backoff)
	tries := option.WithMaxRetries(wait.SDKRetries())
	return wait.Retry(ctx, func() (*provider.Answer, error) { return c.once(ctx, body, tries) })
}

// Check implements provider.Checker. The list of models is what all servers have.
func (c *Client) Check(ctx context.Context, model string) error {
	src, err := c.send(ctx, http.MethodGet, "models", nil, option.WithMaxRetries(provider.Backoff{}.SDKRetries()))
	if err != nil {
		return err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(src, &list, lenient) != nil {
		return fmt.Errorf("%w: it is no list of models; is %s the base URL, with its version?", provider.ErrBroken, c.opts.Base)
	}
	for _, m := range list.Data {
		if m.ID == model {
			return nil
		}
	}
	return fmt.Errorf("%s does not list the model %s", c.opts.Base, model)
}

// once sends a body.
func (c *Client) once(ctx context.Context, body []byte, tries option.RequestOption) (*provider.Answer, error) {
	src, err := c.send(ctx, http.MethodPost, "chat/completions", body, tries)
	if err != nil {
		return nil, err
	}
	return c.answer(src)
}

// send makes a call and returns the body of its answer. Other statuses than 200 are errors.
func (c *Client) send(ctx context.Context, method, path string, body []byte, tries option.RequestOption) ([]byte, error) {
	var params any
	if body != nil {
		params = body
	}
	var res *http.Response
	err := c.sdk.Execute(ctx, method, path, params, &res, tries)
	if err != nil {
		return nil, c.failure(err, res)
	}
	defer res.Body.Close()
	src, err := io.ReadAll(io.LimitReader(res.Body, c.opts.Largest+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%w: it broke off: %w", provider.ErrBroken, ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("%w: it broke off: %s", provider.ErrBroken, c.opts.Credential.Hide(err.Error()))
	case int64(len(src)) > c.opts.Largest:
		return nil, fmt.Errorf("%w: it has more than %d bytes", provider.ErrBroken, c.opts.Largest)
	}
	return src, nil
}

// failure returns an error in the place of the SDK's, which knows the request and with it the credential.
func (c *Client) failure(err error, res *http.Response) error {
	for _, is := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, is) {
			return fmt.Errorf("ask %s: %w", c.opts.Base, is)
		}
	}
	if res == nil || res.StatusCode < http.StatusBadRequest {
		return provider.Unreachable(err, c.opts.Credential)
	}
	body, err := io.ReadAll(res.Body) // the SDK has put back what it has read
	if err != nil {
		body = nil
	}
	f := c.refusal(res.StatusCode, body)
	if d, err := time.ParseDuration(res.Header.Get("Retry-After") + "s"); err == nil {
		f.After = max(0, d)
	}
	return f
}
