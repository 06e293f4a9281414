package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

const piHeader = `{"type":"session","version":3,"id":"s1","cwd":"/repo"}`

func piUser(id, parent, text string) string {
	return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"message":{"role":"user","content":[{"type":"text","text":"` + text + `"}]}}`
}

func TestPiReadsThePathToTheNewestEntry(t *testing.T) {
	d := parseAs(t, wire.Pi, piHeader, piUser("a", "null", "one"), piUser("b", `"a"`, "left"), piUser("c", `"b"`, "left too"),
		`{"type":"branch_summary","id":"d","parentId":"a","fromId":"c","summary":"tried something"}`, piUser("e", `"d"`, "two"))
	if diff := cmp.Diff([]string{"one", "tried something", "two"}, texts(d.Conversation)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0].Text, "2 messages on branches") {
		t.Errorf("got warnings %v", d.Warnings)
	}
}

func TestPiBrokenTreeIsReadInTheOrderOfTheFile(t *testing.T) {
	d := parseAs(t, wire.Pi, piHeader, piUser("a", "null", "one"), piUser("b", `"nobody"`, "two"))
	if diff := cmp.Diff([]string{"one", "two"}, texts(d.Conversation)); diff != "" || len(d.Warnings) != 1 {
		t.Errorf("warnings %v, (-want +got):\n%s", d.Warnings, diff)
	}
}

func TestPiSummaryComesBeforeWhatItKept(t *testing.T) {
	for name, tt := range map[string]struct {
		compaction string
		want       []string
	}{
		"ByID":        {`{"type":"compaction","id":"d","parentId":"c","summary":"sum","firstKeptEntryId":"b","tokensBefore":9}`, []string{"sum", "two", "three", "four"}},
		"NothingKept": {`{"type":"compaction","id":"d","parentId":"c","summary":"sum","firstKeptEntryId":"x","tokensBefore":9}`, []string{"sum", "four"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := parseAs(t, wire.Pi, piHeader, piUser("a", "null", "one"), piUser("b", `"a"`, "two"), piUser("c", `"b"`, "three"),
				tt.compaction, piUser("e", `"d"`, "four"))
			if diff := cmp.Diff(tt.want, texts(d.Conversation.With(d.Conversation.Live()))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPiFirstVersionKeepsByPosition(t *testing.T) {
	line := func(text string) string {
		return `{"type":"message","message":{"role":"user","content":"` + text + `"}}`
	}
	d := parseAs(t, wire.Pi, `{"type":"session","id":"s1"}`, line("one"), line("two"), line("three"),
		`{"type":"compaction","summary":"sum","firstKeptEntryIndex":3,"tokensBefore":9}`, line("four"))
	if diff := cmp.Diff([]string{"sum", "three", "four"}, texts(d.Conversation.With(d.Conversation.Live()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPiCompactedTwiceKeepsTheNewerSummary(t *testing.T) {
	d := parse(t, sessions(t)["pi-tree"])
	live := d.Conversation.Live()
	if !live[0].Compaction || len(live) != 5 {
		t.Fatalf("got %d live messages, want the newer summary and the 4 messages that both kept", len(live))
	}
	for _, m := range live[1:] {
		if m.Compaction {
			t.Error("an older summary stands behind the newer one")
		}
	}
}

func TestPiMessagesOfEveryKind(t *testing.T) {
	d := parseAs(t, wire.Pi, `{"type":"session","id":"s1","modelId":"claude-sonnet-4-5"}`,
		`{"type":"message","message":{"role":"user","content":[{"type":"text","text":"go"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}}`,
		`{"type":"message","message":{"role":"assistant","content":[],"stopReason":"aborted","usage":{"input":0,"output":0}}}`,
		`{"type":"message","timestamp":"2025-11-20T23:00:00Z","message":{"role":"assistant","model":"claude-opus-4-5","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"x"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cost":{"total":0.1}}}}`,
		`{"type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a.go"}],"isError":true}}`,
		`{"type":"message","message":{"role":"bashExecution","command":"pwd","output":"/repo"}}`,
		`{"type":"message","message":{"role":"bashExecution","command":"date","output":"now","excludeFromContext":true}}`,
		`{"type":"custom_message","customType":"x","content":"note of an extension","display":true}`,
		`{"type":"custom","customType":"x","data":{}}`,
	)
	want := []string{
		`user text   "user" images=0 go`,
		`user image   "user" images=1 `,
		`assistant thinking   "model" images=0 hm`,
		`assistant use c1 bash "model" images=0 {"command":"ls"}`,
		`tool result c1 bash "tool" images=0 a.go`,
		`user text   "client" images=0 pwd`,
		`user text   "client" images=0 /repo`,
		`user text   "client" images=0 note of an extension`,
	}
	c := d.Conversation
	if diff := cmp.Diff(want, outline(c.Messages)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&decant.Usage{Input: 1, CacheRead: 3, CacheWrite: 4, Output: 2}, c.Messages[1].Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if c.Model != "claude-opus-4-5" || !c.Messages[2].Blocks[0].Error || !c.Messages[1].Blocks[0].Signed {
		t.Errorf("got model %q, messages %+v", c.Model, c.Messages)
	}
}

// FuzzPi reads, writes and reads again whatever it is given.
func FuzzPi(f *testing.F) { fuzzSession(f, wire.Pi) }
