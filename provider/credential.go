package provider

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/secret"
)

const redacted = "[redacted]"

// A Credential is the headers by which a provider knows whose call it is. Whatever prints it prints "[redacted]". The zero
// value is none, which servers of one's own may not need.
type Credential struct{ headers http.Header }

var _ fmt.Formatter = Credential{}

// Key returns the credential of a key that stands alone in a header, such as x-api-key.
func Key(header, key string) Credential {
	return Credential{http.Header{http.CanonicalHeaderKey(header): {key}}}
}

// Bearer returns the credential of a token that stands in the header authorization.
func Bearer(token string) Credential { return Key("Authorization", "Bearer "+token) }

// credentials are the headers of a client's request that say whose it is, in the spelling of http.Header.
var credentials = []string{"Api-Key", "Authorization", "X-Api-Key", "Anthropic-Workspace-Id", "Openai-Organization", "Openai-Project"}

// Taken returns the credential of a client's request. It is not known when the request has neither a key nor a token.
func Taken(h http.Header) (c Credential, known bool) {
	c.headers = http.Header{}
	for i, name := range credentials {
		if vs := h.Values(name); len(vs) > 0 {
			c.headers[name], known = slices.Clone(vs), known || i < 3
		}
	}
	return c, known
}

// Set puts the credential into the headers of a request.
func (c Credential) Set(h http.Header) {
	for name, vs := range c.headers {
		h[name] = slices.Clone(vs)
	}
}

// IsZero reports whether there is none.
func (c Credential) IsZero() bool { return len(c.headers) == 0 }

// Hide returns text without the credential, and without what looks like any other, on one line of at most 300 bytes. It is
// for what somebody else has written, such as an error, which may repeat what it was sent.
func (c Credential) Hide(text string) string {
	for _, vs := range c.headers {
		for _, v := range vs {
			text = hide(text, v)
			if _, token, ok := strings.Cut(v, " "); ok {
				text = hide(text, token)
			}
		}
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == '\u007f' {
			return ' '
		}
		return r
	}, secret.Mask(text))
	return strings.ToValidUTF8(text[:min(len(text), 300)], "")
}

// hide replaces a key in text. One of a few letters would take words away instead.
func hide(text, key string) string {
	if len(key) < 6 {
		return text
	}
	return strings.ReplaceAll(text, key, redacted)
}

// Format implements fmt.Formatter for every verb, so that no verb reveals the credential.
func (Credential) Format(f fmt.State, _ rune) {
	io.WriteString(f, redacted) // as with every Formatter, the caller sees the write's error
}

// String returns "[redacted]".
func (Credential) String() string { return redacted }

// MarshalText returns "[redacted]", for loggers and encoders.
func (Credential) MarshalText() ([]byte, error) { return []byte(redacted), nil }
