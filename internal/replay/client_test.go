package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// parse reads a session file.
func parse(t *testing.T, lines ...string) *decant.Conversation {
	t.Helper()
	doc, err := wire.Parse([]byte(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Conversation
}

// longResult is a result that holds a path which is nowhere else.
func longResult(path string) string {
	return "found " + path + "\n" + strings.Repeat("a line of a build that says nothing worth keeping\n", 400)
}

// quote returns s as JSON.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// claude is a session of Claude Code with a compaction before its third answer. The summary has kept one
// of two paths; the usage that is reported next says that the client sent something else along.
func claude(t *testing.T) *decant.Conversation {
	parent := func(n int) string {
		if n == 1 {
			return "null"
		}
		return fmt.Sprintf(`"u%d"`, n-1)
	}
	user := func(n int, content string) string {
		return fmt.Sprintf(`{"type":"user","isSidechain":false,"parentUuid":%s,"uuid":"u%d","timestamp":"2026-11-01T10:%02d:00.000Z","sessionId":"s","message":{"role":"user","content":%s}}`, parent(n), n, n, content)
	}
	answer := func(n int, content string, read int) string {
		return fmt.Sprintf(`{"type":"assistant","isSidechain":false,"parentUuid":%s,"uuid":"u%d","timestamp":"2026-11-01T10:%02d:00.000Z","sessionId":"s","message":{"id":"msg_%d","role":"assistant","model":"claude-opus-4-6",`+
			`"content":[%s],"usage":{"input_tokens":10,"cache_read_input_tokens":%d,"cache_creation_input_tokens":0,"output_tokens":5}}}`, parent(n), n, n, n, content, read)
	}
	call := func(id string) string {
		return fmt.Sprintf(`{"type":"tool_use","id":"toolu_%s","name":"Bash","input":{"command":"make"}}`, id)
	}
	result := func(id, text string) string {
		return fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"toolu_%s","content":%s}]`, id, quote(text))
	}
	summary := `{"type":"user","uuid":"u6","parentUuid":"b","isCompactSummary":true,"timestamp":"2026-11-01T10:05:30.000Z","sessionId":"s","message":{"role":"user","content":"This session is being continued. Look at pkg/kept/one.go"}}`
	return parse(t,
		user(1, `"Make it build."`),
		answer(2, call("a"), 5000),
		user(3, result("a", longResult("pkg/kept/one.go"))),
		answer(4, call("b"), 9000),
		user(5, result("b", longResult("pkg/lost/two.go"))),
		`{"type":"system","subtype":"compact_boundary","uuid":"b","timestamp":"2026-11-01T10:05:30.000Z","sessionId":"s"}`,
		summary,
		answer(7, `{"type":"text","text":"I go on with pkg/kept/one.go and pkg/lost/two.go"},`+call("c"), 8000),
		user(8, result("c", "ok")),
		answer(9, `{"type":"text","text":"Done with pkg/kept/one.go"}`, 8200),
	)
}

func TestClientPlaysItsOwnCompaction(t *testing.T) {
	s, err := Play("", claude(t), options(t, "none", "client", "default:off"))
	if err != nil {
		t.Fatal(err)
	}
	none, client := &s.Results[0], &s.Results[1]
	if s.Compactions != 1 || client.Client != 1 || client.Pours() != 1 || client.Busts != 1 {
		t.Errorf("%d compactions, the client made %d and rewrote %d prompts", s.Compactions, client.Client, client.Busts)
	}
	if len(client.Series) != 4 || len(none.Series) != 4 {
		t.Fatalf("%d and %d requests, want 4", len(client.Series), len(none.Series))
	}
	if got, most := client.Series[2].Prompt, none.Series[2].Prompt; got >= most-4000 || got < 8000 {
		t.Errorf("the prompt behind the compaction has %d tokens of %d; 8,010 were reported", got, most)
	}
	if none.Series[3].Prompt <= none.Series[2].Prompt {
		t.Errorf("without the compaction the history does not grow: %+v", none)
	}
	if client.Usage.Output <= none.Usage.Output || client.CallsUSD == 0 || client.Usage.Prompt() <= client.Series[0].Prompt+client.Series[1].Prompt+client.Series[2].Prompt+client.Series[3].Prompt {
		t.Errorf("the call for the summary is not paid: %+v", client.Usage)
	}
	if s.CompactedAt != 9010 {
		t.Errorf("compacted at %d tokens, 9,010 were reported", s.CompactedAt)
	}
	// of one.go and two.go, each with and without its folder, and once more of one.go
	if none.Gold != 6 || none.Kept != 6 || client.Gold != 6 || client.Kept != 4 {
		t.Errorf("kept %d of %d, the client %d of %d; want all of 6, and 4 of 6", none.Kept, none.Gold, client.Kept, client.Gold)
	}
	if client.Illegal > 0 {
		t.Errorf("%d broken rules", client.Illegal)
	}
	if len(client.Log) != 1 || client.Log[0].Pour != Compacted || client.Log[0].Reason != "the client's own compaction of m1 to m5" {
		t.Errorf("the log says %+v", client.Log)
	}
}

// Codex puts a list in place of the history: what the user said, again, and a summary that only the provider
// can read. All of it is recorded at one time.
func TestCodexRepeatsTheUser(t *testing.T) {
	item := func(at, v string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-01T10:%s.000Z","type":"response_item","payload":%s}`, at, v)
	}
	said := func(role, kind, text string) string {
		return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%s}]}`, role, kind, quote(text))
	}
	call := func(id string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"shell","arguments":"{}"}`, id)
	}
	output := func(id, text string) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, id, quote(text))
	}
	words := said("user", "input_text", "Make it build.")
	s, err := Play("", parse(t,
		`{"timestamp":"2026-11-01T10:00:00.000Z","type":"session_meta","payload":{"id":"s","instructions":"Be brief."}}`,
		`{"timestamp":"2026-11-01T10:00:00.000Z","type":"turn_context","payload":{"model":"gpt-5.2-codex"}}`,
		item("00:01", words),
		item("00:02", call("a")), item("00:03", output("a", longResult("pkg/lost/two.go"))),
		item("00:04", call("b")), item("00:05", output("b", longResult("pkg/lost/three.go"))),
		`{"timestamp":"2026-11-01T10:01:00.000Z","type":"compacted","payload":{"message":"","replacement_history":[`+words+`,{"type":"compaction","encrypted_content":"`+strings.Repeat("QUJD", 100)+`"}]}}`,
		item("02:00", said("assistant", "output_text", "I go on with pkg/lost/two.go")),
		item("02:01", said("user", "input_text", "Good.")),
		item("02:02", said("assistant", "output_text", "Done.")),
	), options(t, "none", "client"))
	if err != nil {
		t.Fatal(err)
	}
	none, client := &s.Results[0], &s.Results[1]
	if len(client.Series) != 4 || len(none.Series) != 4 {
		t.Fatalf("%d and %d requests, want 4", len(client.Series), len(none.Series))
	}
	if small, whole := client.Series[2].Prompt, none.Series[2].Prompt; small > 1000 || whole < 8000 {
		t.Errorf("behind the compaction %d tokens are sent of %d", small, whole)
	}
	if n := none.Series[3].Prompt - none.Series[2].Prompt; n > 100 {
		t.Errorf("what the client repeated is in the history: it grew by %d tokens", n)
	}
	if none.Kept != 2 || client.Gold != 2 || client.Kept != 0 || client.Usage.Output <= none.Usage.Output {
		t.Errorf("%+v", client)
	}
}

// Where the kept messages stand behind the summary, as in sessions of pi, requests that were made before
// the compaction are played without it.
func TestKeptMessagesAreOlderThanTheirSummary(t *testing.T) {
	entry := func(id, parent, at, rest string) string {
		return fmt.Sprintf(`{"id":%q,"parentId":%s,"timestamp":"2026-11-01T10:%s.000Z",%s}`, id, parent, at, rest)
	}
	message := func(role, text string) string {
		return fmt.Sprintf(`"type":"message","message":{"role":%q,"model":"claude-opus-4-6","content":[{"type":"text","text":%s}]}`, role, quote(text))
	}
	s, err := Play("", parse(t,
		`{"type":"session","version":3,"id":"s","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/src"}`,
		entry("1", "null", "00:01", message("user", longResult("pkg/lost/two.go"))),
		entry("2", `"1"`, "00:02", message("assistant", "I see.")),
		entry("3", `"2"`, "00:03", message("user", "And now?")),
		entry("4", `"3"`, "00:04", message("assistant", "It is in pkg/lost/two.go.")),
		entry("5", `"4"`, "01:00", `"type":"compaction","summary":"They looked around.","firstKeptEntryId":"3"`),
		entry("6", `"5"`, "02:00", message("user", "Where was it?")),
		entry("7", `"6"`, "02:01", message("assistant", "There.")),
	), options(t, "none", "client"))
	if err != nil {
		t.Fatal(err)
	}
	client := &s.Results[1]
	if len(client.Series) != 3 || client.Client != 1 {
		t.Fatalf("%d requests with %d compactions, want 3 and 1", len(client.Series), client.Client)
	}
	if before, after := client.Series[1].Prompt, client.Series[2].Prompt; before < 4000 || after > 1000 || client.Kept != 2 {
		t.Errorf("%d tokens before the compaction, %d after it, %d strings kept", before, after, client.Kept)
	}
}

func TestSessionThatBeginsWithASummary(t *testing.T) {
	c := claude(t)
	c = c.With(c.Messages[5:])
	s, err := Play("", c, options(t, "none", "client"))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Begun || s.Compactions != 0 || s.Results[1].Client != 0 || s.Results[0].Usage != s.Results[1].Usage {
		t.Errorf("begun %v with %d compactions; the client sent %+v, none %+v", s.Begun, s.Compactions, s.Results[1].Usage, s.Results[0].Usage)
	}
}
