package provider

import (
	"errors"
	"fmt"
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

// HTTP returns an HTTP client for own calls that follows no redirects: a call goes to the address that was configured, or
// nowhere. Over says how it gets there, nil: as http.DefaultTransport does.
func HTTP(over http.RoundTripper) *http.Client {
	return &http.Client{Transport: over, CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
}
