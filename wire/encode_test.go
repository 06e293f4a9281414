package wire_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

var requestFormats = []wire.Format{wire.Anthropic, wire.OpenAIChat, wire.OpenAIResponses}

// TestEncodeIsLegal encodes views of real bodies, from which messages and blocks are missing, in every
// format, and checks the rules that the APIs refuse requests for.
func TestEncodeIsLegal(t *testing.T) {
	for name := range bodies {
		if strings.HasSuffix(name, ".gz") {
			continue // the large one adds time and no cases
		}
		d := parsed(t, name)
		for _, f := range requestFormats {
			t.Run(fmt.Sprintf("%s as %s", name, f), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					out, err := wire.Encode(anyView(t, d.Conversation), f)
					if err != nil {
						t.Fatal(err)
					}
					again, err := wire.ParseAs(f, out)
					if err != nil {
						t.Fatal(err)
					}
					for _, broken := range broken(again.Conversation, f) {
						t.Error(broken)
					}
				})
			})
		}
	}
}

var legalID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// broken returns the rules that a conversation breaks.
func broken(c *decant.Conversation, f wire.Format) []string {
	var out []string
	fail := func(m *decant.Message, format string, args ...any) {
		out = append(out, m.Name()+": "+fmt.Sprintf(format, args...))
	}
	seen := map[string]bool{}
	var open []string // ids of calls that the messages before have to answer
	for i := range c.Messages {
		m := &c.Messages[i]
		var results []string
		for k := range m.Blocks {
			b := &m.Blocks[k]
			switch b.Kind {
			case decant.KindResult:
				if len(results) != k {
					fail(m, "a result stands behind other blocks")
				}
				results = append(results, b.CallID)
				if n := slices.Index(open, b.CallID); n >= 0 {
					open = slices.Delete(open, n, n+1)
				} else {
					fail(m, "result %q answers no call before it", b.CallID)
				}
			case decant.KindText:
				if strings.TrimSpace(b.Text()) == "" {
					fail(m, "blank text")
				}
			}
		}
		if len(open) > 0 && (f == wire.Anthropic || m.Role != decant.RoleTool) {
			fail(m, "calls %q are not answered", open)
			open = nil
		}
		for k := range m.Blocks {
			if b := &m.Blocks[k]; b.Kind == decant.KindUse {
				if seen[b.CallID] || !legalID.MatchString(b.CallID) || !legalID.MatchString(b.Name) {
					fail(m, "call id %q (seen before: %v), name %q", b.CallID, seen[b.CallID], b.Name)
				}
				seen[b.CallID] = true
				open = append(open, b.CallID)
			}
		}
		if f == wire.Anthropic && (i == 0 && m.Role != decant.RoleUser || i > 0 && c.Messages[i-1].Role == m.Role) {
			fail(m, "role %s is out of turn", m.Role)
		}
	}
	if len(open) > 0 {
		out = append(out, fmt.Sprintf("calls %q are not answered", open))
	}
	return out
}

// messy is a conversation that breaks every rule.
func messy() *decant.Conversation {
	text := func(s string) decant.Block { return decant.Block{Kind: decant.KindText, Content: decant.Text(s)} }
	use := func(id, name, args string) decant.Block {
		return decant.Block{Kind: decant.KindUse, CallID: id, Name: name, Content: decant.Text(args)}
	}
	result := func(id, s string) decant.Block {
		return decant.Block{Kind: decant.KindResult, CallID: id, Content: decant.Text(s)}
	}
	failed := result("call 1", "again")
	failed.Error = true
	shot := result("call 1", "seen")
	shot.Media = decant.Media{Type: "image/png", Count: 1}
	return &decant.Conversation{
		Model: "m", MaxOutput: 100,
		Fixed: decant.Fixed{
			System: []decant.Block{text("be brief"), text(" ")},
			Tools:  []decant.Tool{{Name: "read.file", Schema: decant.Text(`{"name":"read.file","description":"reads","input_schema":{"type":"object"}}`)}},
		},
		Messages: []decant.Message{
			{Number: 1, Role: decant.RoleAssistant, Blocks: []decant.Block{
				{Kind: decant.KindThinking, Signed: true, Content: decant.Text("hm")}, text("I read."),
				use("call 1", "read.file", `{"p":1}`), use("b", "patch", "*** not json")}},
			{Number: 2, Role: decant.RoleUser, Blocks: []decant.Block{text("wait"), shot}},
			{Number: 3, Role: decant.RoleAssistant, Blocks: []decant.Block{use("call 1", "read.file", "")}},
			{Number: 4, Role: decant.RoleTool, Blocks: []decant.Block{failed}},
			{Number: 5, Role: decant.RoleTool, Blocks: []decant.Block{result("lost", "an orphan")}},
			{Number: 6, Role: decant.RoleSystem, Blocks: []decant.Block{text("mind the gap")}},
			{Number: 7, Role: decant.RoleUser, Blocks: []decant.Block{text("  "), {Kind: decant.KindImage, Media: decant.Media{Type: "image/png", Count: 1}}}},
		},
	}
}

// messyAs is the messy conversation in each format, without the line breaks.
var messyAs = map[wire.Format]string{
	wire.Anthropic: `{"model":"m","max_tokens":100,"system":[{"type":"text","text":"be brief"}],
"tools":[{"name":"read_file","description":"reads","input_schema":{"type":"object"}}],
"messages":[{"role":"user","content":[{"type":"text","text":"[the beginning of this conversation is not included]"}]},
{"role":"assistant","content":[{"type":"text","text":"I read."},
{"type":"tool_use","id":"call_1","name":"read_file","input":{"p":1}},
{"type":"tool_use","id":"b","name":"patch","input":{"input":"*** not json"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"seen\n[image/png]"},
{"type":"tool_result","tool_use_id":"b","content":"[no result: the call was interrupted]","is_error":true},
{"type":"text","text":"wait"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"call_1_2","name":"read_file","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1_2","content":"again","is_error":true},
{"type":"text","text":"[result of a call that is not in this conversation]\nan orphan"},
{"type":"text","text":"mind the gap"},{"type":"text","text":"[image/png]"}]}]}`,
	wire.OpenAIChat: `{"model":"m","max_completion_tokens":100,"messages":[{"role":"system","content":"be brief"},
{"role":"assistant","content":"I read.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"p\":1}"}},
{"id":"b","type":"function","function":{"name":"patch","arguments":"*** not json"}}]},
{"role":"tool","tool_call_id":"call_1","content":"seen\n[image/png]"},
{"role":"tool","tool_call_id":"b","content":"[no result: the call was interrupted]"},
{"role":"user","content":"wait"},
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1_2","type":"function","function":{"name":"read_file","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"call_1_2","content":"[error]\nagain"},
{"role":"user","content":"[result of a call that is not in this conversation]\nan orphan"},
{"role":"system","content":"mind the gap"},{"role":"user","content":"[image/png]"}],
"tools":[{"type":"function","function":{"name":"read_file","description":"reads","parameters":{"type":"object"}}}]}`,
	wire.OpenAIResponses: `{"model":"m","max_output_tokens":100,"instructions":"be brief",
"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read."}]},
{"type":"function_call","call_id":"call_1","name":"read_file","arguments":"{\"p\":1}"},
{"type":"function_call","call_id":"b","name":"patch","arguments":"*** not json"},
{"type":"function_call_output","call_id":"call_1","output":"seen\n[image/png]"},
{"type":"function_call_output","call_id":"b","output":"[no result: the call was interrupted]"},
{"type":"message","role":"user","content":[{"type":"input_text","text":"wait"}]},
{"type":"function_call","call_id":"call_1_2","name":"read_file","arguments":"{}"},
{"type":"function_call_output","call_id":"call_1_2","output":"[error]\nagain"},
{"type":"message","role":"user","content":[{"type":"input_text","text":"[result of a call that is not in this conversation]\nan orphan"}]},
{"type":"message","role":"developer","content":[{"type":"input_text","text":"mind the gap"}]},
{"type":"message","role":"user","content":[{"type":"input_text","text":"[image/png]"}]}],
"tools":[{"type":"function","name":"read_file","description":"reads","parameters":{"type":"object"}}]}`,
}

func TestEncodeMakesAnythingLegal(t *testing.T) {
	for _, f := range requestFormats {
		t.Run(string(f), func(t *testing.T) {
			got, err := wire.Encode(messy(), f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(messyAs[f], "\n", ""), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			d, err := wire.ParseAs(f, got)
			if err != nil {
				t.Fatal(err)
			}
			if bad := broken(d.Conversation, f); len(bad) > 0 {
				t.Error(bad)
			}
		})
	}
	if _, err := wire.Encode(messy(), wire.Codex); err == nil {
		t.Error("a session file is written from scratch, want an error")
	}
}

func TestTextShowsWhatAModelReads(t *testing.T) {
	want := `== m1 assistant
I read.
read.file {"p":1}
patch *** not json

== m2 user
wait
[result]
seen
[image/png]
`
	got := wire.Text(messy())
	if !strings.HasPrefix(got, want) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	summary := messy().With([]decant.Message{{Role: decant.RoleUser, Blocks: []decant.Block{ours("A summary.\n")}}})
	if got := wire.Text(summary); got != "A summary.\n" {
		t.Errorf("a view that is only a summary: got %q, want just its text", got)
	}
}

func TestEncodeWritesOnlyWhatIsLive(t *testing.T) {
	c := messy()
	c.Messages[3].Compaction = true
	if got := wire.Text(c); strings.Contains(got, "I read.") {
		t.Errorf("got %q, want nothing from before the compaction", got)
	}
}

// FuzzEncode checks that whatever can be read can be written for every API, and that it is legal there.
func FuzzEncode(f *testing.F) {
	for name := range bodies {
		if src := body(f, name); len(src) < 64<<10 {
			f.Add(src)
		}
	}
	f.Add([]byte(`{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use"},{"type":"tool_use"}]},{"role":"assistant"}]}`))
	f.Add([]byte(`{"messages":[{"role":"tool"},{"role":"assistant","tool_calls":[{"id":"a"},{"id":"a"}]},{"role":"tool","tool_call_id":"a"}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := wire.Parse(src)
		if err != nil {
			return
		}
		wire.Text(d.Conversation)
		for _, format := range requestFormats {
			out, err := wire.Encode(d.Conversation, format)
			if err != nil {
				t.Fatal(err)
			}
			again, err := wire.ParseAs(format, out)
			if err != nil {
				t.Fatalf("%s as %s is %s: %v", src, format, out, err)
			}
			if bad := broken(again.Conversation, format); len(bad) > 0 {
				t.Errorf("%s as %s is %s: %s", src, format, out, bad)
			}
		}
	})
}
