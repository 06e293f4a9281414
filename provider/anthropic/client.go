// Package anthropic asks models over the Messages API, by the official SDK. Bodies are built here and sent as they are: what
// the SDK encodes itself loses fields that its types do not have.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/token"
)

// Options configures a Client.
type Options struct {
	// Base is the base URL of the API, with or without its version /v1. Empty means Anthropic's own.
	Base string

	// Credential says whose calls these are.
	Credential provider.Credential

	// Betas are sent with each call. Some credentials are not taken without one.
	Betas []string

	// Transport carries the calls. Nil means http.DefaultTransport.
	Transport http.RoundTripper

	// Backoff says when a failed call is made again, where the request does not say.
	Backoff provider.Backoff

	// Largest is the largest answer that is read, in bytes. Zero means 8 MB.
	Largest int64

	// Catalog knows the models. Nil means the built-in one.
	Catalog *token.Catalog
}

// defaultBase is the base URL of Anthropic's own API.
const defaultBase = "https://api.anthropic.com"

// A Client asks models over the Messages API. It is safe for concurrent use.
type Client struct {
	opts Options
	sdk  sdk.Client
}

var (
	_ provider.Client  = (*Client)(nil)
	_ provider.Speaker = (*Client)(nil)
	_ provider.Checker = (*Client)(nil)
)

// New returns a client.
func New(o Options) (*Client, error) {
	if o.Base == "" {
		o.Base = defaultBase
	}
	if err := modelhttp.CheckBase(o.Base); err != nil {
		return nil, err
	}
	o.Base = strings.TrimSuffix(strings.TrimRight(o.Base, "/"), "/v1")
	if o.Largest == 0 {
		o.Largest = 8 << 20
	}
	if o.Catalog == nil {
		var err error
		if o.Catalog, err = token.Builtin(); err != nil {
			return nil, err
		}
	}
	c := &Client{opts: o}
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), // a configured key and destination only
		option.WithMaxRetries(0), // modelhttp.Retry makes further attempts
		option.WithBaseURL(o.Base), option.WithHTTPClient(modelhttp.Client(o.Transport, o.Credential)),
	}
	c.sdk = sdk.NewClient(opts...)
	return c, nil
}

// FromEnv returns a client with the key in ANTHROPIC_API_KEY, of the server that ANTHROPIC_BASE_URL names, or of Anthropic's own.
func FromEnv() (*Client, error) {
	key := os.Getenv("ANTHROPIC_API_KEY")
	if key == "" {
		return nil, errors.New("there is no key: set ANTHROPIC_API_KEY")
	}
	return New(Options{Base: os.Getenv("ANTHROPIC_BASE_URL"), Credential: provider.Key("x-api-key", key)})
}

// Ask implements provider.Client.
func (c *Client) Ask(ctx context.Context, r *provider.Request) (*provider.Answer, error) {
	body := r.Body
	if body == nil {
		body = c.body(r)
	}
	return modelhttp.Retry(ctx, cmp.Or(r.Backoff, c.opts.Backoff), func() (*provider.Answer, error) {
		return c.once(ctx, body, r.Betas, nil)
	})
}

// Check implements provider.Checker.
func (c *Client) Check(ctx context.Context, model string) error {
	res, err := c.get(ctx, "v1/models/"+url.PathEscape(model))
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// once sends a body.
func (c *Client) once(ctx context.Context, body []byte, betas []string, heard *listener) (*provider.Answer, error) {
	res, err := c.send(ctx, http.MethodPost, "v1/messages", body, betas)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a, err := c.read(res, heard)
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return a, err
}

// send makes a call and returns the answer of a model. Other answers are errors.
func (c *Client) send(ctx context.Context, method, path string, body []byte, betas []string) (*http.Response, error) {
	var opts []option.RequestOption
	for _, b := range slices.Concat(c.opts.Betas, betas) {
		opts = append(opts, option.WithHeaderAdd("anthropic-beta", b))
	}
	var params any
	if body != nil {
		params = body
	}
	var res *http.Response
	if err := c.sdk.Execute(ctx, method, path, params, &res, opts...); err != nil {
		return nil, c.failure(err, res)
	}
	return res, nil
}

// get makes a call that changes nothing, and repeats it when that may help.
func (c *Client) get(ctx context.Context, path string, betas ...string) (*http.Response, error) {
	return modelhttp.Retry(ctx, provider.Backoff{}, func() (*http.Response, error) {
		return c.send(ctx, http.MethodGet, path, nil, betas)
	})
}

// failure returns an error in the place of the SDK's, which knows the request and with it the credential.
func (c *Client) failure(err error, res *http.Response) error {
	if refused, ok := errors.AsType[*sdk.Error](err); ok {
		return c.refusal(refused.StatusCode, []byte(refused.RawJSON()), refused.Response)
	}
	if res != nil && res.StatusCode >= http.StatusBadRequest {
		return c.refusal(res.StatusCode, nil, res)
	}
	return modelhttp.Unanswered(c.opts.Base, err, c.opts.Credential)
}
