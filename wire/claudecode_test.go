package wire_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire"
)

func parseAs(tb testing.TB, f wire.Format, lines ...string) *wire.Document {
	tb.Helper()
	d, err := wire.ParseAs(f, []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestClaudeCodeAnswerOverSeveralLinesIsOneMessage(t *testing.T) {
	d := parseAs(t, wire.ClaudeCode,
		`{"type":"user","uuid":"1","sessionId":"s1","timestamp":"2026-01-30T10:00:00Z","message":{"role":"user","content":"go"}}`,
		`{"type":"assistant","uuid":"2","sessionId":"s1","timestamp":"2026-01-30T10:00:01Z","message":{"id":"m","model":"claude-opus-4-5","content":[{"type":"thinking","thinking":"hm","signature":"EqoBCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgCCkYIBxgC"}],"usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_1h_input_tokens":15},"output_tokens":1}}}`,
		`{"type":"assistant","uuid":"3","sessionId":"s1","message":{"id":"m","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_1h_input_tokens":15},"output_tokens":44}}}`,
		`{"type":"user","uuid":"4","sessionId":"s1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a.go"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"is_error":true}]}}`,
		`{"type":"assistant","uuid":"5","sessionId":"s1","message":{"id":"m","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"c2","name":"Bash","input":{"command":"pwd"}}],"usage":{"input_tokens":3,"output_tokens":9}}}`,
	)
	c := d.Conversation
	if c.ID != "s1" || c.Agent != typed.ClaudeCode || c.Model != "claude-opus-4-5" {
		t.Errorf("got id %q, agent %q, model %q", c.ID, c.Agent, c.Model)
	}
	if len(c.Messages) != 3 {
		t.Fatalf("got %d messages, want 3", len(c.Messages))
	}
	answer, result := c.Messages[1], c.Messages[2].Blocks[0]
	if answer.ID != "m" || len(answer.Blocks) != 3 || !answer.Blocks[0].Signed || answer.Blocks[2].CallID != "c2" {
		t.Errorf("got answer %+v", answer)
	}
	want := &decant.Usage{Input: 3, Output: 44}
	if d := cmp.Diff(want, answer.Usage); d != "" {
		t.Errorf("usage: the newest line counts, and the largest output (-want +got):\n%s", d)
	}
	if !answer.Time.Equal(time.Date(2026, 1, 30, 10, 0, 1, 0, time.UTC)) {
		t.Errorf("got time %v", answer.Time)
	}
	if result.Name != "Bash" || !result.Error || result.Text() != "a.go" || result.Media.Count != 1 {
		t.Errorf("got result %+v with text %q", result, result.Text())
	}
}

func TestClaudeCodeUsageOfOneHourWrites(t *testing.T) {
	d := parse(t, sessions(t)["claude-code-compacted"])
	for i := range d.Conversation.Messages {
		if u := d.Conversation.Messages[i].Usage; u != nil && u.Write1h > 0 {
			if u.Write1h > u.CacheWrite {
				t.Errorf("m%d: %d tokens written for an hour, more than the %d written", i+1, u.Write1h, u.CacheWrite)
			}
			return
		}
	}
	t.Error("no message has tokens written for an hour")
}

func TestClaudeCodeLinesOfSubagents(t *testing.T) {
	const main = `{"type":"user","uuid":"1","isSidechain":false,"message":{"role":"user","content":"main"}}`
	const side = `{"type":"user","uuid":"2","isSidechain":true,"message":{"role":"user","content":"side"}}`
	d := parseAs(t, wire.ClaudeCode, main, side)
	if got := texts(d.Conversation); len(got) != 1 || got[0] != "main" || len(d.Warnings) != 1 {
		t.Errorf("got %q with warnings %v, want only the main line and a warning", got, d.Warnings)
	}
	d = parseAs(t, wire.ClaudeCode, side)
	if got := texts(d.Conversation); len(got) != 1 || got[0] != "side" {
		t.Errorf("got %q: a file of a sub-agent's lines only is its session", got)
	}
}

func TestClaudeCodeWhoWroteIt(t *testing.T) {
	d := parseAs(t, wire.ClaudeCode,
		`{"type":"user","uuid":"1","message":{"role":"user","content":"fix it"}}`,
		`{"type":"user","uuid":"2","isMeta":true,"message":{"role":"user","content":[{"type":"text","text":"Base rules"}]}}`,
		`{"type":"user","uuid":"3","message":{"role":"user","content":"<local-command-stdout>ok</local-command-stdout>"}}`,
		`{"type":"user","uuid":"4","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nx\n</system-reminder>\nand the test"}]}}`,
		`{"type":"assistant","uuid":"5","isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"usage":{"input_tokens":0}}}`,
	)
	var got []decant.Author
	for i := range d.Conversation.Messages {
		got = append(got, d.Conversation.Messages[i].Blocks[0].Author)
	}
	want := []decant.Author{decant.AuthorUser, decant.AuthorClient, decant.AuthorClient, decant.AuthorUser, decant.AuthorClient}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if m := d.Conversation.Messages[4]; m.Usage != nil || m.Model != "" || d.Conversation.Model != "" {
		t.Errorf("got %+v: the client's own answer has no model and no usage", m)
	}
}

func TestClaudeCodeCompactionIsTheMessageBehindTheBoundary(t *testing.T) {
	d := parse(t, sessions(t)["claude-code-compacted"])
	live := d.Conversation.Live()
	if !live[0].Compaction || !strings.HasPrefix(live[0].Text(), "This session is being continued") {
		t.Errorf("the live part begins with %.80q", live[0].Text())
	}
	if live[0].UserWords() {
		t.Error("the client's summary counts as the user's words")
	}
}

// FuzzClaudeCode reads, writes and reads again whatever it is given.
func FuzzClaudeCode(f *testing.F) { fuzzSession(f, wire.ClaudeCode) }

func fuzzSession(f *testing.F, format wire.Format) {
	names, err := filepath.Glob("testdata/sessions/" + string(format) + "*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds: ", err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
		f.Add(a.Files[2].Data)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := wire.ParseAs(format, src)
		if err != nil {
			return
		}
		out, err := d.Render(d.Conversation.With(append([]decant.Message(nil), d.Conversation.Messages...)))
		if err != nil || string(out) != string(src) {
			t.Fatalf("unchanged: got %q, %v; want the source", out, err)
		}
		live := d.Conversation.Live()
		if len(live) < 2 {
			return
		}
		cp := &decant.Checkpoint{Number: 1, From: live[0].Number, To: live[len(live)/2-1].Number, Summary: record}
		view, err := decant.View(d.Conversation.With(live), []decant.Decision{{ID: "c", Kind: decant.Cover, Checkpoint: cp}})
		if err != nil {
			t.Fatal(err)
		}
		if out, err = d.Render(view); err != nil {
			t.Fatal(err)
		}
		again, err := wire.ParseAs(format, out)
		if err != nil {
			t.Fatalf("compacted: %v\n%s", err, out)
		}
		if !strings.Contains(wire.Text(again.Conversation), "Decant record") {
			t.Fatalf("the summary is lost:\n%s", out)
		}
	})
}

func TestClaudeCodeBranchThatTheUserLeftIsLeftOut(t *testing.T) {
	line := func(kind, uuid, parent, text string) string {
		return `{"parentUuid":` + parent + `,"type":"` + kind + `","uuid":"` + uuid + `","sessionId":"s","timestamp":"2026-01-30T10:00:00Z","message":{"id":"` + uuid + `","role":"` + kind + `","content":[{"type":"text","text":"` + text + `"}]}}`
	}
	d := parseAs(t, wire.ClaudeCode,
		line("user", "a", "null", "one"), line("assistant", "b", `"a"`, "first"),
		line("user", "c", `"b"`, "wrong"), line("assistant", "d", `"c"`, "sorry"),
		`{"parentUuid":"d","type":"system","subtype":"turn_duration","uuid":"e"}`,
		line("user", "f", `"b"`, "right"), line("assistant", "g", `"f"`, "fine"))
	if diff := cmp.Diff([]string{"one", "first", "right", "fine"}, texts(d.Conversation)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, "2 lines from here on are on branches") {
		t.Errorf("got warnings %v", d.Warnings)
	}
	cp := &decant.Checkpoint{Number: 1, From: 1, To: 2, Summary: record}
	view, err := decant.View(d.Conversation, []decant.Decision{{ID: "c", Kind: decant.Cover, Checkpoint: cp}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Render(view)
	if err != nil || strings.Contains(string(out), "sorry") || !strings.Contains(string(out), "fine") {
		t.Errorf("got %s, %v", out, err)
	}
}
