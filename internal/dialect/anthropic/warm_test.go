package anthropic

import (
	"testing"
)

// A request that keeps a prompt warm has the same prompt, and is not made where it would do more than read it.
func TestWarm(t *testing.T) {
	const messages = `"messages":[{"role":"user","content":"Hello."}]`
	for _, tt := range []struct{ body, want string }{
		{`{"model":"m","max_tokens":4000,"stream":true,` + messages + `}`, `{"model":"m","max_tokens":0,"stream":false,` + messages + `}`},
		{`{"max_tokens":4000,"thinking":{"type":"adaptive"},` + messages + `}`, `{"max_tokens":0,"thinking":{"type":"adaptive"},` + messages + `}`},
		{`{"max_tokens":4000,"tool_choice":{"type":"any"},` + messages + `}`, `{"max_tokens":1,"tool_choice":{"type":"any"},` + messages + `}`},
		{`{"max_tokens":4000,"output_config":{"format":{"type":"json_schema"}},` + messages + `}`, `{"max_tokens":1,"output_config":{"format":{"type":"json_schema"}},` + messages + `}`},
		{`{"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000},` + messages + `}`, ""},
		{`{"max_tokens":4000,"compaction":{"type":"summarize"},` + messages + `}`, ""},
		{`{"max_tokens":4000,"context_management":{"edits":[{"type":"compact_20260112"}]},` + messages + `}`, ""},
		{`{` + messages + `}`, ""},
	} {
		got, ok := Dialect{}.Warm([]byte(tt.body))
		if string(got) != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: got %s, %v", tt.body, got, ok)
		}
	}
}
