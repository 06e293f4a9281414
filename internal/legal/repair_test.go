package legal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/decantdev/decant/token"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// outline writes messages in one line each, for comparing.
func outline(ms []decant.Message) (out []string) {
	for i := range ms {
		var s strings.Builder
		fmt.Fprintf(&s, "%s:", ms[i].Role)
		for k := range ms[i].Blocks {
			b := &ms[i].Blocks[k]
			fmt.Fprintf(&s, " %s", b.Kind)
			if b.CallID != "" {
				fmt.Fprintf(&s, "(%s)", b.CallID)
			}
			if b.Author == decant.AuthorDecant {
				s.WriteString("*") // written by Decant
			}
		}
		out = append(out, s.String())
	}
	return out
}

func TestRepair(t *testing.T) {
	hello := user(text("hello"))
	tests := []struct {
		name    string
		api     legal.API
		ms      []decant.Message
		want    []string
		repairs int
	}{
		{
			"first-message AssistantFirst", legal.Messages, []decant.Message{model(text("hi")), hello},
			[]string{"user: text*", "assistant: text", "user: text"}, 1,
		},
		{
			"tool-result-missing InterruptedCall", legal.Messages,
			[]decant.Message{hello, model(use("a")), hello},
			[]string{"user: text", "assistant: use(a)", "user: result(a)* text"}, 1,
		},
		{
			"tool-result-missing InterruptedAtTheEnd", legal.Messages, []decant.Message{hello, model(use("a"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a)*"}, 1,
		},
		{
			"tool-result-missing InterruptedOfSeveral", legal.Messages,
			[]decant.Message{hello, model(use("a"), use("b")), user(result("b"))},
			[]string{"user: text", "assistant: use(a) use(b)", "user: result(a)* result(b)"}, 1,
		},
		{
			"tool-result-missing DisplacedResult", legal.Messages,
			[]decant.Message{hello, model(use("a")), hello, model(text("x")), user(result("a"), text("y"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a) text", "assistant: text", "user: text"},
			1,
		},
		{
			"tool-result-missing DisplacedResultLeavesNoMessage", legal.Messages,
			[]decant.Message{hello, model(use("a")), hello, model(text("x")), user(result("a")), hello},
			[]string{"user: text", "assistant: use(a)", "user: result(a) text", "assistant: text", "user: text"},
			1,
		},
		{
			"tool-result-orphan Orphan", legal.Messages,
			[]decant.Message{hello, model(text("x")), user(result("a"), text("y"))},
			[]string{"user: text", "assistant: text", "user: text"}, 1,
		},
		{
			"tool-result-orphan AnsweredTwice", legal.Messages,
			[]decant.Message{hello, model(use("a")), user(result("a"), result("a"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a)"}, 1,
		},
		{
			"tool-results-first ResultBehindText", legal.Messages,
			[]decant.Message{hello, model(use("a")), user(text("wait"), result("a"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a) text"}, 1,
		},
		{
			"tool-results-first UserTextBetweenCallAndResult", legal.Messages,
			[]decant.Message{hello, model(use("a")), hello, user(result("a"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a) text"}, 1,
		},
		{
			"call-id-unique RecordedTwice", legal.Messages,
			[]decant.Message{hello, model(use("a"), use("a")), user(result("a"), result("a"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a)"}, 2,
		},
		{"text-empty EmptyText", legal.Messages, []decant.Message{user(text(""), text("x"))}, []string{"user: text"}, 1},
		{
			"text-empty EmptyMessage", legal.Messages, []decant.Message{hello, model(), hello},
			[]string{"user: text", "user: text"}, 1,
		},
		{
			"system-place SystemBetweenCallAndResult", legal.Messages,
			[]decant.Message{hello, model(use("a")), system(text("s")), user(result("a")), model(text("x"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a)", "system: text", "assistant: text"},
			1,
		},
		{
			"server-result-missing Interrupted", legal.Messages,
			[]decant.Message{hello, model(text("x"), served("s"), use("a")), user(result("a"), text("stop"))},
			[]string{"user: text", "assistant: text use(a)", "user: result(a) text"}, 1,
		},
		{
			"server-result-missing AnsweredTooLate", legal.Messages,
			[]decant.Message{hello, model(served("s")), hello, model(serves("s")), hello},
			[]string{"user: text", "user: text", "user: text"}, 2,
		},
		{
			"server-result-orphan Orphan", legal.Messages,
			[]decant.Message{hello, model(serves("s"), text("x")), hello},
			[]string{"user: text", "assistant: text", "user: text"}, 1,
		},
		{
			"ReusedIDBelongsToTheNewestCall", legal.Messages,
			[]decant.Message{hello, model(use("a")), user(result("a")), model(use("a")), user(text("x"), result("a"))},
			[]string{"user: text", "assistant: use(a)", "user: result(a)", "assistant: use(a)", "user: result(a) text"},
			1,
		},
		{
			"tool-message-missing UserBetweenToolMessages", legal.Chat,
			[]decant.Message{hello, model(use("a"), use("b")), tool(result("a")), hello, tool(result("b"))},
			[]string{"user: text", "assistant: use(a) use(b)", "tool: result(a)", "tool: result(b)", "user: text"},
			1,
		},
		{
			"tool-message-missing NotAnswered", legal.Chat,
			[]decant.Message{hello, model(use("a")), model(use("b")), tool(result("b"))},
			[]string{"user: text", "assistant: use(a)", "tool: result(a)*", "assistant: use(b)", "tool: result(b)"},
			1,
		},
		{
			"tool-message-orphan AssistantFirstIsLegal", legal.Chat,
			[]decant.Message{model(text("hi")), tool(result("a"))}, []string{"assistant: text"}, 1,
		},
		{
			"item-output-missing NoOutput", legal.Responses,
			[]decant.Message{hello, model(think("r"), use("a")), hello, tool(result("x"))},
			[]string{"user: text", "assistant: thinking use(a)", "tool: result(a)*", "user: text"}, 2,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := talk(tt.ms...)
			before := outline(c.Messages)
			got, ds := legal.Repair(tt.api, c.Messages)
			if diff := cmp.Diff(tt.want, outline(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(ds) != tt.repairs {
				t.Errorf("got %d repairs, want %d: %+v", len(ds), tt.repairs, ds)
			}
			for _, d := range ds {
				if d.Kind != decant.Repair || d.Reason == "" {
					t.Errorf("got %+v, want kind repair and a reason", d)
				}
			}
			if diff := cmp.Diff(before, outline(c.Messages)); diff != "" {
				t.Errorf("the transcript was modified:\n%s", diff)
			}
		})
	}
}

func TestRepairSaysThatTheOutcomeIsUnknown(t *testing.T) {
	got, ds := legal.Repair(legal.Messages, talk(user(text("hello")), model(use("a"))).Messages)
	b := &got[2].Blocks[0]
	if b.Author != decant.AuthorDecant || !b.Error || !strings.Contains(b.Text(), "interrupted") ||
		!strings.Contains(b.Text(), "unknown") {
		t.Errorf("got %+v", b)
	}
	if ds[0].Text != b.Text() || ds[0].Target.CallID != "a" {
		t.Errorf("got decision %+v", ds[0])
	}
}

func TestRepairedBlocksKeepTheirPlaceInTheTranscript(t *testing.T) {
	got, _ := legal.Repair(legal.Messages, talk(user(text("hello")), model(use("a")), user(text("wait")), user(result("a"))).Messages)
	want := decant.Ref{Message: 4, Block: 0}
	if got[2].Number != 3 || got[2].Blocks[0].Ref != want {
		t.Errorf("got m%d and %+v, want m3 and %+v", got[2].Number, got[2].Blocks[0].Ref, want)
	}
}

// anyTalk draws messages that may be broken in every way that recorded sessions are.
func anyTalk(t *rapid.T, roles ...decant.Role) *decant.Conversation {
	ids := []string{"a", "b", "c"}
	ms := make([]decant.Message, rapid.IntRange(0, 14).Draw(t, "messages"))
	for i := range ms {
		ms[i].Role = rapid.SampledFrom(roles).Draw(t, "role")
		for range rapid.IntRange(0, 4).Draw(t, "blocks") {
			id := rapid.SampledFrom(ids).Draw(t, "id")
			all := []decant.Block{
				text("words"), text(" "), use(id), result(id), use(id), result(id), think("hm"), served(id),
				serves(id),
			}
			ms[i].Blocks = append(ms[i].Blocks, rapid.SampledFrom(all).Draw(t, "block"))
		}
	}
	return talk(ms...)
}

// legalTalk draws a conversation that every API takes.
func legalTalk(t *rapid.T, results decant.Role) *decant.Conversation {
	ms := []decant.Message{user(text("task"))}
	id := 0
	for range rapid.IntRange(0, 8).Draw(t, "rounds") {
		m, answers := model(), []decant.Block{}
		if rapid.Bool().Draw(t, "thinks") {
			m.Blocks = append(m.Blocks, think("hm"))
		}
		m.Blocks = append(m.Blocks, text("words"))
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			id++
			m.Blocks = append(m.Blocks, use(fmt.Sprint("call_", id)))
			answers = append(answers, result(fmt.Sprint("call_", id)))
		}
		ms = append(ms, m)
		if results == decant.RoleTool {
			for _, b := range answers {
				ms = append(ms, tool(b))
			}
			answers = nil
		}
		if len(answers) == 0 || rapid.Bool().Draw(t, "speaks") {
			answers = append(answers, text("more"))
		}
		ms = append(ms, user(answers...))
	}
	return talk(ms...)
}

// wrong returns what Repair should have put right: everything but the places of system messages and
// the ids and thinking that a client chose, which only the client can change.
func wrong(vs []legal.Violation) (out []legal.Violation) {
	for _, v := range vs {
		switch v.Rule {
		case legal.SystemPlace, legal.ReasoningAlone:
		default:
			out = append(out, v)
		}
	}
	return out
}

func TestRepairMakesAnythingLegal(t *testing.T) {
	for api, roles := range map[legal.API][]decant.Role{
		legal.Messages:  {decant.RoleUser, decant.RoleAssistant, decant.RoleAssistant, decant.RoleSystem},
		legal.Chat:      {decant.RoleUser, decant.RoleAssistant, decant.RoleTool, decant.RoleSystem},
		legal.Responses: {decant.RoleUser, decant.RoleAssistant, decant.RoleTool},
	} {
		t.Run(string(api), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := anyTalk(t, roles...)
				got, ds := legal.Repair(api, c.Messages)
				if len(got) == 0 {
					return // nothing was left to send
				}
				rules := legal.Rules{API: api, Prefill: true, ReuseIDs: true}
				if vs := wrong(legal.Check(c.With(got), rules)); len(vs) > 0 {
					t.Fatalf("still illegal: %v\nbefore %q\nafter  %q", vs, outline(c.Messages), outline(got))
				}
				again, more := legal.Repair(api, got)
				if len(more) != 0 || &again[0] != &got[0] {
					t.Fatalf("repaired twice: %+v", more)
				}
				if len(ds) == 0 && (len(got) != len(c.Messages) || &got[0] != &c.Messages[0]) {
					t.Fatal("changed without a decision")
				}
			})
		})
	}
}

func TestRepairOfLegalIsIdentity(t *testing.T) {
	for api, carrier := range map[legal.API]decant.Role{legal.Messages: decant.RoleUser, legal.Chat: decant.RoleTool,
		legal.Responses: decant.RoleTool} {
		t.Run(string(api), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := legalTalk(t, carrier)
				if vs := legal.Check(c, legal.Rules{API: api}); vs != nil {
					t.Fatalf("not legal: %v", vs)
				}
				got, ds := legal.Repair(api, c.Messages)
				if ds != nil || len(got) != len(c.Messages) || &got[0] != &c.Messages[0] {
					t.Fatalf("changed: %+v", ds)
				}
			})
		})
	}
}

// Nothing that is said gets lost: every block is still there, or a decision names it.
func TestRepairAccountsForEveryBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyTalk(t, decant.RoleUser, decant.RoleAssistant)
		got, ds := legal.Repair(legal.Messages, c.Messages)
		seen := map[decant.Ref]int{}
		for i := range got {
			for k := range got[i].Blocks {
				seen[got[i].Blocks[k].Ref]++
			}
		}
		named := map[decant.Ref]bool{}
		for _, d := range ds {
			named[d.Target.Ref] = true
		}
		for i := range c.Messages {
			for k := range c.Messages[i].Blocks {
				r := c.Messages[i].Blocks[k].Ref
				if seen[r] > 1 || seen[r] == 0 && !named[r] {
					t.Fatalf("block %+v stands %d times in %q", r, seen[r], outline(got))
				}
			}
		}
	})
}

func FuzzRepair(f *testing.F) {
	f.Add([]byte("u.a1a2u1u2u."))
	f.Add([]byte("a1u.u1s.t2a."))
	f.Fuzz(func(t *testing.T, script []byte) {
		c := talk(play(script)...)
		for _, api := range []legal.API{legal.Messages, legal.Chat, legal.Responses} {
			got, _ := legal.Repair(api, c.Messages)
			if len(got) == 0 {
				continue
			}
			if vs := wrong(legal.Check(c.With(got), legal.Rules{API: api, Prefill: true, ReuseIDs: true})); len(vs) > 0 {
				t.Fatalf("%s: %v\nbefore %q\nafter  %q", api, vs, outline(c.Messages), outline(got))
			}
		}
	})
}

// play turns pairs of bytes into messages: who speaks, and what.
func play(script []byte) (ms []decant.Message) {
	roles := map[byte]decant.Role{'a': decant.RoleAssistant, 's': decant.RoleSystem, 't': decant.RoleTool}
	for i := 0; i+1 < len(script) && i < 200; i += 2 {
		role, ok := roles[script[i]]
		if !ok {
			role = decant.RoleUser
		}
		b, id := text("words"), fmt.Sprint("c", script[i+1]%4)
		switch {
		case script[i+1] == ' ':
			b = text("")
		case script[i+1] >= '0' && role == decant.RoleAssistant:
			b = use(id)
		case script[i+1] >= '0':
			b = result(id)
		}
		if n := len(ms); n > 0 && ms[n-1].Role == role && script[i+1]%3 == 0 {
			ms[n-1].Blocks = append(ms[n-1].Blocks, b)
			continue
		}
		ms = append(ms, decant.Message{Role: role, Blocks: []decant.Block{b}})
	}
	return ms
}

func BenchmarkCheckAndRepair(b *testing.B) {
	ms := []decant.Message{user(text("task"))}
	for i := range 1000 {
		id := fmt.Sprint("call_", i)
		ms = append(ms, model(think("hm"), text(strings.Repeat("word ", 20)), use(id)), user(result(id)))
	}
	c := talk(ms...)
	rules := legal.Rules{API: legal.Messages, Prefill: true, Binds: true}.Of(c)
	b.ReportAllocs()
	for b.Loop() {
		if vs := append(legal.Check(c, rules), legal.CheckEdit(c, c, rules)...); len(vs) > 0 {
			b.Fatal(vs)
		}
		if _, ds := legal.Repair(legal.Messages, c.Messages); ds != nil {
			b.Fatal(ds)
		}
	}
}

// What is mended is mended by the rules that it is held against: a conversation of OpenAI's may begin with
// the model, and its results have messages of their own.
func TestMendKnowsTheAPI(t *testing.T) {
	for api, want := range map[legal.API][]string{
		legal.Messages:  {"user: text*", "assistant: text use(a)", "user: result(a)* text"},
		legal.Chat:      {"assistant: text use(a)", "tool: result(a)*", "user: text"},
		legal.Responses: {"assistant: text use(a)", "tool: result(a)*", "user: text"},
	} {
		c := talk(model(text("hi"), use("a")), user(text("wait")))
		got, _, err := legal.Mend(c, legal.RulesFor(api, token.Model{}, decant.ThinkingOff))
		if err != nil {
			t.Errorf("%s: %v", api, err)
			continue
		}
		if diff := cmp.Diff(want, outline(got.Messages)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", api, diff)
		}
	}
}
