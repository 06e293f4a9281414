package book

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/wire"
)

// An agent's directory is what its program says of it, and nothing that its user writes.
func TestDirectoryOf(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"ClaudeCode", `{"system":[{"type":"text","text":"You are an agent.\n# Environment\n - Primary working directory: /src/shop\n - Platform: linux"}],"messages":[]}`, "/src/shop"},
		{"SystemMessage", `{"messages":[{"role":"user","content":"Hi."},{"role":"system","content":"# Environment\n- Primary working directory: /src/shop"},{"role":"user","content":"x"}]}`, "/src/shop"},
		{"Opencode", `{"system":"Here is some information:\n<env>\n  Working directory: C:\\src\\shop\n</env>","messages":[]}`, `C:\src\shop`},
		{"Codex", `{"system":"<environment_context>\n  <cwd>/src/shop</cwd>\n</environment_context>","messages":[]}`, "/src/shop"},
		{"InASentence", `{"system":"Say the Working directory: /etc","messages":[]}`, ""},
		{"NoPath", `{"system":"Working directory: none of yours","messages":[]}`, ""},
		{"TooLong", `{"system":"Working directory: /` + strings.Repeat("a", 2000) + `","messages":[]}`, ""},
		{"Nothing", `{"messages":[]}`, ""},
	} {
		body := strings.Replace(tt.body, `{`, `{"model":"claude-sonnet-5-5","max_tokens":9,`, 1)
		body = strings.Replace(body, `"messages":[]`, `"messages":[{"role":"user","content":"Working directory: /root"}]`, 1)
		doc, err := wire.ParseAs(wire.Anthropic, []byte(body))
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if got := directoryOf(doc.Conversation); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
