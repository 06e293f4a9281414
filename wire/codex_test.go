package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

const codexMeta = `{"timestamp":"2026-06-29T01:00:00Z","type":"session_meta","payload":{"id":"s1","base_instructions":{"text":"You are Codex."}}}`

func codexItem(item string) string {
	return `{"timestamp":"2026-06-29T01:00:01Z","type":"response_item","payload":` + item + `}`
}

func TestCodexItemsOfEveryKind(t *testing.T) {
	d := parseAs(t, wire.Codex, codexMeta,
		`{"timestamp":"2026-06-29T01:00:00Z","type":"turn_context","payload":{"model":"gpt-5.5"}}`,
		codexItem(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"be brief"}]}`),
		codexItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"},{"type":"input_text","text":"go"}]}`),
		codexItem(`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`),
		codexItem(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"looking"}]}`),
		codexItem(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}`),
		codexItem(`{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c2"}`),
		codexItem(`{"type":"local_shell_call","call_id":"c3","action":{"type":"exec","command":["ls"]}}`),
		codexItem(`{"type":"web_search_call","action":{"type":"open_page","url":"https://example.com"}}`),
		codexItem(`{"type":"function_call_output","call_id":"c1","output":"Process exited with code 1\nOutput:\nno"}`),
		codexItem(`{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"done"}]}`),
		codexItem(`{"type":"function_call_output","call_id":"c3","output":{"type":"input_text","text":"a.go"}}`),
		codexItem(`{"type":"ghost_snapshot","ghost_commit":{"id":"1"}}`),
		codexItem(`{"type":"something_new","x":1}`),
	)
	want := []string{
		"user text   \"client\" images=0 <environment_context>\n</environment_context>",
		`user text   "user" images=0 go`,
		`assistant thinking   "model" images=0 hm`,
		`assistant text   "model" images=0 looking`,
		`assistant use c1 exec_command "model" images=0 {"cmd":"ls"}`,
		`assistant use c2 apply_patch "model" images=0 *** Begin Patch`,
		`assistant use c3 local_shell "model" images=0 {"type":"exec","command":["ls"]}`,
		`assistant opaque  web_search_call "model" images=0 web_search_call`,
		"tool result c1 exec_command \"tool\" images=0 Process exited with code 1\nOutput:\nno",
		`tool result c2 apply_patch "tool" images=0 done`,
		`tool result c3 local_shell "tool" images=0 {"type":"input_text","text":"a.go"}`,
		`system opaque  something_new "client" images=0 something_new`,
	}
	c := d.Conversation
	if diff := cmp.Diff(want, outline(c.Messages)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(c.Messages) != 4 {
		t.Errorf("got %d messages, want 4: neighbouring items of one side are one message", len(c.Messages))
	}
	if c.ID != "s1" || c.Model != "gpt-5.5" || len(c.Fixed.System) != 2 || c.Fixed.System[0].Text() != "You are Codex." || c.Fixed.System[1].Text() != "be brief" {
		t.Errorf("got id %q, model %q, system %v", c.ID, c.Model, c.Fixed.System)
	}
	if bs := c.Messages[2].Blocks; !bs[0].Error || bs[1].Error {
		t.Error("want an error for exit code 1 and none without an exit code")
	}
	if !c.Messages[1].Blocks[0].Signed {
		t.Error("reasoning with encrypted content is not signed")
	}
}

func TestCodexUsageBelongsToTheAnswerBefore(t *testing.T) {
	tokens := `{"timestamp":"2026-06-29T01:00:02Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":9000,"cached_input_tokens":8000,"output_tokens":50}}}}`
	d := parseAs(t, wire.Codex, codexMeta, tokens,
		codexItem(`{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c1"}`),
		codexItem(`{"type":"function_call_output","call_id":"c1","output":"x"}`),
		tokens, tokens,
		codexItem(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`),
	)
	want := &decant.Usage{Input: 1000, CacheRead: 8000, Output: 50}
	if diff := cmp.Diff(want, d.Conversation.Messages[0].Usage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if u := d.Conversation.Messages[2].Usage; u != nil {
		t.Errorf("got %v for an answer that no event follows", u)
	}
}

func TestCodexCompactedReplacesWhatCameBefore(t *testing.T) {
	item := func(text string) string {
		return `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`
	}
	for name, tt := range map[string]struct {
		payload string
		want    []string
	}{
		"History":   {`{"message":"","replacement_history":[` + item("one") + `,` + item("two") + `]}`, []string{"one", "two", "three"}},
		"Summary":   {`{"message":"what happened"}`, []string{"what happened", "three"}},
		"Encrypted": {`{"message":"","replacement_history":[` + item("one") + `,{"type":"compaction","encrypted_content":"x"}]}`, []string{"one", `{"type":"compaction","encrypted_content":"x"}`, "three"}},
		"Nothing":   {`{"message":""}`, []string{"zero", "three"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := parseAs(t, wire.Codex, codexMeta, codexItem(item("zero")),
				`{"timestamp":"2026-06-29T01:00:02Z","type":"compacted","payload":`+tt.payload+`}`, codexItem(item("three")))
			live := d.Conversation.With(d.Conversation.Live())
			if diff := cmp.Diff(tt.want, texts(live)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCodexTurnsThatWereTakenBackAreLeftOut(t *testing.T) {
	user := func(text string) string {
		return codexItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`)
	}
	d := parseAs(t, wire.Codex, codexMeta, user("one"), user("two"), user("<turn_aborted>x</turn_aborted>"), user("three"),
		`{"timestamp":"2026-06-29T01:00:02Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":2}}`, user("four"))
	if diff := cmp.Diff([]string{"one", "four"}, texts(d.Conversation)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, "took back 2 turns") {
		t.Errorf("got warnings %v", d.Warnings)
	}
}

func TestCodexReplacedActionStaysAnObject(t *testing.T) {
	d := parseAs(t, wire.Codex, codexMeta, codexItem(`{"type":"local_shell_call","call_id":"c3","action":{"type":"exec","command":["ls"]}}`))
	b := &d.Conversation.Messages[0].Blocks[0]
	view, err := decant.View(d.Conversation, []decant.Decision{{ID: "d", Kind: decant.Shrink, Target: decant.TargetOf(b), Text: `{"type":"exec","command":["…"]}`}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Render(view)
	if err != nil || !strings.Contains(string(out), `"action":{"type":"exec","command":["…"]}`) {
		t.Errorf("got %s, %v", out, err)
	}
}

// FuzzCodex reads, writes and reads again whatever it is given.
func FuzzCodex(f *testing.F) { fuzzSession(f, wire.Codex) }
