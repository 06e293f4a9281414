package gateway

import (
	"net/url"
	"testing"
)

// The version of the API is in a path once, whoever has written it into a base URL.
func TestBaseURLsWithAVersion(t *testing.T) {
	for _, test := range []struct {
		base, path, want string
		versioned        bool
	}{
		{"https://x", "/v1/messages", "/v1/messages", false},
		{"https://x/", "/v1/messages", "/v1/messages", false},
		{"https://x/v1", "/v1/messages", "/v1/messages", false},
		{"https://x/v1/", "/v1/messages/count_tokens", "/v1/messages/count_tokens", false},
		{"https://x/anthropic", "/v1/messages", "/anthropic/v1/messages", false},
		{"https://x/anthropic/v1", "/v1/messages", "/anthropic/v1/messages", false},
		{"https://x", "/v1/v1/messages", "/v1/messages", false},
		{"https://x/v1", "/v1/v1/models", "/v1/models", false},
		{"https://x/v1", "/other", "/v1/other", false},
		{"https://x", "/v1/files/a%2Fb", "/v1/files/a%2Fb", false},
		{"https://x/a%2Fb/v1", "/v1/files/a%2Fb", "/a%2Fb/v1/files/a%2Fb", false},
		{"https://x", "/v1", "/v1", false},
		{"https://x/dev1", "/v1/messages", "/dev1/v1/messages", false},
		{"https://x/v1", "/v1/chat/completions", "/v1/chat/completions", true},
		{"https://x/v1", "/chat/completions", "/v1/chat/completions", true},
		{"https://x/api/v1", "/v1/models", "/api/v1/models", true},
		{"https://x/backend-api/codex", "/v1/responses", "/backend-api/codex/responses", true},
		{"https://x/backend-api/codex", "/backend-api/codex/responses", "/backend-api/codex/responses", true},
		{"https://x", "/v1/models", "/v1/models", true},
		{"https://x", "/openai/deployments/d/chat/completions", "/openai/deployments/d/chat/completions", true},
	} {
		base, err := url.Parse(test.base)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse("http://localhost" + test.path)
		if err != nil {
			t.Fatal(err)
		}
		if join(u, base, test.versioned); u.EscapedPath() != test.want {
			t.Errorf("%s and %s make %s, want %s", test.base, test.path, u.EscapedPath(), test.want)
		}
	}
}
