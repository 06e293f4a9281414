package tools

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/decantdev/decant/agent"
)

// A Web reaches other machines for agents that have no project. The rules are those of the tool fetch: addresses are public, but for hosts
// that are named, and no redirect leads to another host. It is safe for concurrent use.
type Web struct{ fetcher *fetcher }

// NewWeb returns a Web. It must be closed.
func NewWeb(o Fetch) *Web { return &Web{newFetcher(o)} }

// Fetch returns the tool fetch.
func (w *Web) Fetch() agent.Tool { return w.fetcher.tool() }

// Transport returns what carries requests under the rules for addresses. To follow redirects, and to give up on an answer that does
// not come, is up to its client.
func (w *Web) Transport() http.RoundTripper { return w.fetcher.client.Transport }

// Close ends connections that rest.
func (w *Web) Close() { w.fetcher.close() }

// An Endpoint is an address that a model calls as a tool: the arguments are posted as a JSON object, and the answer is the result.
type Endpoint struct {
	Name        string
	Description string
	URL         string
	Headers     map[string]string  // that the address asks for; no other host is sent them
	Schema      stdjson.RawMessage // JSON schema of the arguments; nil: there are none
	ReadOnly    bool               // a call changes nothing, so nobody is asked about it
}

// Endpoint returns the tool of an address.
func (w *Web) Endpoint(e Endpoint) agent.Tool {
	return agent.Tool{
		Name: e.Name, Description: e.Description, Schema: e.Schema, ReadOnly: e.ReadOnly, Ask: !e.ReadOnly,
		Run: func(ctx context.Context, c *agent.Call) (r agent.Result, err error) {
			r.Text, err = w.fetcher.post(ctx, &e, c.Arguments)
			return r, err
		},
	}
}

// post calls an address, and returns its answer.
func (f *fetcher) post(ctx context.Context, e *Endpoint, arguments []byte) (string, error) {
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(arguments))
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range e.Headers {
		req.Header.Set(name, value)
	}
	res, err := f.client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return "", fmt.Errorf("%s cannot be called: %w", req.URL.Host, failed.Err) // without the address, which may hold a key
	}
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := f.body(res)
	if res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s answers with %s\n%.2000s", req.URL.Host, res.Status, text)
	}
	return text, err
}
