package gateway

import (
	"net/url"
	"testing"
)

// The version of the API is in a path once, whoever has written it into a base URL.
func TestBaseURLsWithAVersion(t *testing.T) {
	for _, test := range []struct{ base, path, want string }{
		{"https://x", "/v1/messages", "/v1/messages"},
		{"https://x/", "/v1/messages", "/v1/messages"},
		{"https://x/v1", "/v1/messages", "/v1/messages"},
		{"https://x/v1/", "/v1/messages/count_tokens", "/v1/messages/count_tokens"},
		{"https://x/anthropic", "/v1/messages", "/anthropic/v1/messages"},
		{"https://x/anthropic/v1", "/v1/messages", "/anthropic/v1/messages"},
		{"https://x", "/v1/v1/messages", "/v1/messages"},
		{"https://x/v1", "/v1/v1/models", "/v1/models"},
		{"https://x/v1", "/other", "/v1/other"},
		{"https://x", "/v1/files/a%2Fb", "/v1/files/a%2Fb"},
		{"https://x/a%2Fb/v1", "/v1/files/a%2Fb", "/a%2Fb/v1/files/a%2Fb"},
		{"https://x", "/v1", "/v1"},
		{"https://x/dev1", "/v1/messages", "/dev1/v1/messages"},
	} {
		base, err := url.Parse(test.base)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse("http://localhost" + test.path)
		if err != nil {
			t.Fatal(err)
		}
		if join(u, base); u.EscapedPath() != test.want {
			t.Errorf("%s and %s make %s, want %s", test.base, test.path, u.EscapedPath(), test.want)
		}
	}
}
