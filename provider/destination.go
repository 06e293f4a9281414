package provider

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// errRedirect means that a provider wanted a call to go elsewhere, with its credential.
var errRedirect = errors.New("the provider redirects to another address; name that one as base URL if it is right")

// CheckBase returns an error that says what is wrong with the base URL of a provider. It does not show a password.
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

// sameBase reports whether two base URLs name the same provider.
func sameBase(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

// HTTP returns an HTTP client for own calls with a credential. It follows no redirects: a call goes to the address that was
// configured, or nowhere. Of an answer that is an error it leaves the first MB. Over says how a call gets there, nil: as
// http.DefaultTransport does.
func HTTP(over http.RoundTripper, who Credential) *http.Client {
	if over == nil {
		over = http.DefaultTransport
	}
	return &http.Client{Transport: &way{over, who}, CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
}

// A way carries calls, and puts the credential into them as late as possible, so that no error has it.
type way struct {
	over http.RoundTripper
	who  Credential
}

// mostError is how many bytes of an answer are read that is an error.
const mostError = 1 << 20

// RoundTrip implements http.RoundTripper.
func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	w.who.Set(own.Header)
	res, err := w.over.RoundTrip(own)
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
