package anthropic

import (
	"testing"

	"github.com/decantdev/decant/internal/dialect"
)

// Rules of ours go with no request whose client has rules, and with none in which something runs on the
// provider's side.
func TestWhereRulesOfOursGo(t *testing.T) {
	for fields, want := range map[string]bool{
		``: true,
		`"tools":[{"name":"Bash","input_schema":{}},{"type":"custom","name":"x","input_schema":{}},{"type":"bash_20250124","name":"bash"}],`: true,
		`"tools":[{"type":"web_search_20250305","name":"web_search"}],`:                                                                      false,
		`"tools":[{"type":"memory_20250818","name":"memory"}],`:                                                                              false,
		`"tools":{},`:         false,
		`"mcp_servers":[{}],`: false,
		`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},`: true,
		`"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`:             false,
		`"context_management":{"edits":[{"type":"compact_20260112"}]},`:                     false,
		`"context_management":[],`:                         false,
		`"compaction":{"type":"summarize"},`:               false,
		`"output_config":{"task_budget":{"remaining":1}},`: false,
	} {
		doc, err := Dialect{}.Parse([]byte(`{"model":"claude-opus-4-6",` + fields + `"max_tokens":10,"messages":[{"role":"user","content":"x"}]}`))
		if err != nil {
			t.Fatalf("%s: %v", fields, err)
		}
		if got := (Dialect{}).TakesRules(doc); got != want {
			t.Errorf("%s: %t", fields, got)
		}
	}
}

// The first block of a stream says whether it is a summary, and nothing before it does.
func TestHowAPauseBegins(t *testing.T) {
	for _, c := range []struct {
		name, data     string
		summary, known bool
	}{
		{"message_start", `{"type":"message_start"}`, false, false},
		{"ping", `{"type":"ping"}`, false, false},
		{"content_block_start", `{"index":0,"content_block":{"type":"compaction","content":null}}`, true, true},
		{"content_block_start", `{"index":0,"content_block":{"type":"text","text":"compaction"}}`, false, true},
		{"content_block_start", `{"content_block":`, false, true},
		{"content_block_start", `{}`, false, true},
		{"message_delta", `{}`, false, true},
		{"error", `{}`, false, true},
	} {
		if summary, known := (Dialect{}).Opens([]byte(c.name), []byte(c.data)); summary != c.summary || known != c.known {
			t.Errorf("%s %s: %t, %t", c.name, c.data, summary, known)
		}
	}
}

// A summary is one that stands alone and says something; a block that says nothing is a pause all the same,
// and must not be shown.
func TestWhatAPauseHolds(t *testing.T) {
	for content, want := range map[string]struct {
		text   string
		paused bool
	}{
		`[{"type":"compaction","content":"Half is done."}]`:                             {"Half is done.", true},
		`[{"type":"compaction","content":null}]`:                                        {"", true},
		`[{"type":"compaction","content":" "}]`:                                         {"", true},
		`[{"type":"compaction","content":null},{"type":"text","text":"On it goes."}]`:   {"", true},
		`[{"type":"text","text":"On it goes."},{"type":"compaction","content":"Half"}]`: {"", false},
		`[]`: {"", false}, `[1]`: {"", false}, `{}`: {"", false}, `[{`: {"", false}, ``: {"", false},
	} {
		s, paused := Dialect{}.Paused([]byte(content))
		if s.Text != want.text || paused != want.paused || (s.Source == "") != (s.Text == "") {
			t.Errorf("%s: %+v, %t", content, s, paused)
		}
	}
	if !(Dialect{}).Unsigned(`{"type":"compaction","content":"x"}`) || (Dialect{}).Unsigned(`{"type":"compaction","content":"x","signature":"y"}`) || (Dialect{}).Unsigned(`[`) {
		t.Error("signed and unsigned are not told apart")
	}
	if got := (dialect.Rules{Results: 1}); !got.Any() || !got.Clears() || (dialect.Rules{Summary: 1}).Clears() ||
		(dialect.Rules{}).Any() {
		t.Errorf("%+v", got)
	}
}
