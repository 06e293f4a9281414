package secret

import (
	"strings"
	"testing"
)

// pad makes credentials of the shapes of real ones. They are put together here, so that no scanner
// takes this file for a leak.
const pad = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

func TestMask(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"AnthropicKey", "key sk-ant-" + "api03-" + pad + ".", "key [redacted anthropic-key]."},
		{"OpenAIKey", "OPENAI=sk-proj-" + pad, "OPENAI=[redacted openai-key]"},
		{"AWSKey", "id AKIA" + "ABCDEFGHIJKLMNOP done", "id [redacted aws-key-id] done"},
		{
			"GitHubToken", "git clone https://ghp_" + pad + "@github.com/x",
			"git clone https://[redacted github-token]@github.com/x",
		},
		{"JWT", "auth eyJ" + pad + "." + pad + "." + pad + " end", "auth [redacted jwt] end"},
		{"PasswordInURL", "postgres://admin:hunter2x@db:5432/app", "postgres://admin:[redacted password]@db:5432/app"},
		{"PasswordInEnvironment", "DB_PASSWORD=s3cr3t!pw9\n", "DB_PASSWORD=[redacted password]\n"},
		{"SecretInJSON", `{"client_secret": "` + pad + `"}`, `{"client_secret": "[redacted secret]"}`},
		{"BearerHeader", "Authorization: Bearer " + pad, "Authorization: Bearer [redacted secret]"},
		{"EscapedJSON", `\"api_key\": \"` + pad + `\"`, `\"api_key\": \"[redacted secret]\"`},
		{
			"PrivateKey",
			"-----BEGIN RSA PRIVATE KEY-----\n" + pad + pad + "\n-----END RSA PRIVATE KEY-----\nafter",
			"[redacted private-key]\nafter",
		},
		{"PrivateKeyCutOff", "-----BEGIN PRIVATE KEY-----\n" + pad + pad + "\n", "[redacted private-key]\n"},
		{"TwoOnOneLine", "ghp_" + pad + " and ghp_" + pad, "[redacted github-token] and [redacted github-token]"},

		{"CodeIsKept", "token := getToken(ctx, id)", "token := getToken(ctx, id)"},
		{"TypeIsKept", "password: string;", "password: string;"},
		{"VariableIsKept", "API_KEY=$OPENAI_API_KEY", "API_KEY=$OPENAI_API_KEY"},
		{"EnvironmentIsKept", "apiKey: process.env.OPENAI_API_KEY_2024", "apiKey: process.env.OPENAI_API_KEY_2024"},
		{"PlaceholderIsKept", "api_key = your-api-key-goes-here-12345", "api_key = your-api-key-goes-here-12345"},
		{"HashIsKept", "commit 5f3e8d9c1b2a4f6e8d7c9b0a1f2e3d4c5b6a7f8e", "commit 5f3e8d9c1b2a4f6e8d7c9b0a1f2e3d4c5b6a7f8e"},
		{"PlainURLIsKept", "https://example.org:8080/a@b", "https://example.org:8080/a@b"},
		{"NumberOfTokensIsKept", "max_tokens: 1234567890123456789", "max_tokens: 1234567890123456789"},
		{"Empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Mask(tt.in); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestMatchDoesNotPrintTheSecret(t *testing.T) {
	found := Find("ghp_" + pad)
	if len(found) != 1 || strings.Contains(found[0].String(), "ghp_") {
		t.Errorf("got %v, want one match that does not show itself", found)
	}
}

func FuzzMask(f *testing.F) {
	f.Add("password=abc12345 -----BEGIN PRIVATE KEY----- eyJ. ://a:b@c")
	f.Add("x://:@ token:\"")
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, m := range Find(s) {
			if m.Start < end || m.End <= m.Start || m.End > len(s) {
				t.Fatalf("match %d:%d after %d in %q", m.Start, m.End, end, s)
			}
			end = m.End
		}
		Mask(s)
	})
}

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("func (s *Store) Get(ctx context.Context, id string) (*Item, error) { // id: the key\n", 12000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Mask(text)
	}
}
