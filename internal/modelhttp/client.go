// Package modelhttp is what the clients of model APIs share: HTTP with a credential, and the retry of failed calls.
package modelhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/decantdev/decant/provider"
)

// errRedirect means that a provider wanted a call to go elsewhere, with its credential.
var errRedirect = errors.New("the provider redirects to another address; name that one as base URL if it is right")

// CheckBase returns an error that says what is wrong with the base URL of a service. It does not show a password.
func CheckBase(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return errors.New("the base URL cannot be parsed; want one like https://api.anthropic.com")
	case u.User != nil:
		return fmt.Errorf("base URL %s: it holds a password; name the key apart from it", u.Redacted())
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("base URL %q: want one like https://api.anthropic.com", base)
	}
	return nil
}

// Client returns an HTTP client that sends a credential with each call. It follows no redirects: a call goes to the
// configured address, or nowhere. It cuts the body of an error answer after 1 MB. Over carries the calls; nil means
// http.DefaultTransport.
func Client(over http.RoundTripper, who provider.Credential) *http.Client {
	if over == nil {
		over = http.DefaultTransport
	}
	return &http.Client{
		Transport:     &transport{over, who},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// A transport adds the credential to a call as late as possible, so that no error contains it.
type transport struct {
	over http.RoundTripper
	who  provider.Credential
}

// mostError is how many bytes of an error answer are read.
const mostError = 1 << 20

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	t.who.Set(own.Header)
	res, err := t.over.RoundTrip(own)
	if err != nil {
		return nil, err
	}
	res.Request = r
	if res.StatusCode >= http.StatusBadRequest {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, mostError), res.Body}
	}
	return res, nil
}

// Unanswered returns the error of a call to base that got no answer, without the credential. It keeps whether the context
// ended and whether the provider redirected.
func Unanswered(base string, err error, who provider.Credential) error {
	for _, is := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, is) {
			return fmt.Errorf("ask %s: %w", base, is)
		}
	}
	if errors.Is(err, errRedirect) {
		return fmt.Errorf("%w: %w", provider.ErrRefused, errRedirect)
	}
	return errors.New(who.Hide(err.Error()))
}
