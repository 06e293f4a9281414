package legal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/legal"
	"github.com/google/go-cmp/cmp"
)

// The names of the cases start with the number that the rule has in the reference of the Messages API.
func TestMessages(t *testing.T) {
	hello, yes := user(text("hello")), model(text("yes"))
	const serverUse = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`
	const serverResult = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
	const compaction = `{"type":"compaction","content":"summary","signature":"x"}`
	tests := []struct {
		name string
		ms   []decant.Message
		want []legal.Rule
	}{
		{"6.1 Legal", []decant.Message{hello, yes, hello}, nil},
		{"6.1 NoMessages", nil, []legal.Rule{legal.FirstUser}},
		{"6.1 AssistantFirst", []decant.Message{yes, hello}, []legal.Rule{legal.FirstUser}},
		{"6.1 CompactionFirst", []decant.Message{model(opaque(compaction)), hello}, nil},
		{"6.1 NeighboursOfOneRoleAreMerged", []decant.Message{hello, hello, yes, yes, hello}, nil},
		{"6.2 Answered", []decant.Message{hello, model(use("a"), use("b")), user(result("b"), result("a"), text("go on"))}, nil},
		{"6.2 AnsweredInMergedMessages", []decant.Message{hello, model(use("a")), model(use("b")), user(result("a")), user(result("b")), hello}, nil},
		{"6.2 NotAnswered", []decant.Message{hello, model(use("a")), hello}, []legal.Rule{legal.CallAnswered}},
		{"6.2 HalfAnswered", []decant.Message{hello, model(use("a"), use("b")), user(result("a"))}, []legal.Rule{legal.CallAnswered}},
		{"6.2 AnsweredTooLate", []decant.Message{hello, model(use("a")), hello, yes, user(result("a"))}, []legal.Rule{legal.CallAnswered, legal.ResultCalled}},
		{"6.2 CallOfTheUser", []decant.Message{user(use("a"))}, []legal.Rule{legal.CallAnswered}},
		{"6.3 Orphan", []decant.Message{hello, yes, user(result("a"))}, []legal.Rule{legal.ResultCalled}},
		{"6.3 OrphanAtTheStart", []decant.Message{user(result("a"))}, []legal.Rule{legal.ResultCalled}},
		{"6.3 AnsweredTwice", []decant.Message{hello, model(use("a")), user(result("a"), result("a"), result("a"))}, []legal.Rule{legal.ResultCalled, legal.ResultCalled}},
		{"6.3 ResultOfTheAssistant", []decant.Message{hello, model(text("x"), result("a")), hello}, []legal.Rule{legal.ResultCalled}},
		{"6.4 ResultBehindText", []decant.Message{hello, model(use("a")), user(text("wait"), result("a"))}, []legal.Rule{legal.ResultsFirst}},
		{"6.4 ResultBehindTextOfAnotherMessage", []decant.Message{hello, model(use("a")), hello, user(result("a"))}, []legal.Rule{legal.ResultsFirst}},
		{"6.4 Characters", []decant.Message{hello, model(use("a.b")), user(result("a.b"))}, []legal.Rule{legal.CallIDs}},
		{"6.4 NoID", []decant.Message{hello, model(use("")), user(result(""))}, []legal.Rule{legal.CallIDs}},
		{"6.4 UsedTwice", []decant.Message{hello, model(use("a")), user(result("a")), model(use("a")), user(result("a"))}, []legal.Rule{legal.UniqueIDs}},
		{"6.5 Empty", []decant.Message{user(text(""))}, []legal.Rule{legal.TextNotEmpty}},
		{"6.5 Blank", []decant.Message{user(text(" \n\t"))}, []legal.Rule{legal.TextNotEmpty}},
		{"6.5 NoBlocks", []decant.Message{hello, model(), hello}, []legal.Rule{legal.TextNotEmpty}},
		{"6.5 EmptyResultIsLegal", []decant.Message{hello, model(use("a")), user(decant.Block{Kind: decant.KindResult, CallID: "a"})}, nil},
		{"6.6 Prefill", []decant.Message{hello, yes}, []legal.Rule{legal.NoPrefill}},
		{"6.8 First", []decant.Message{system(text("x")), hello}, []legal.Rule{legal.SystemPlace}},
		{"6.8 Last", []decant.Message{hello, system(text("x"))}, nil},
		{"6.8 BeforeTheAssistant", []decant.Message{hello, system(text("x")), yes, hello}, nil},
		{"6.8 BeforeTheUser", []decant.Message{hello, system(text("x")), hello}, []legal.Rule{legal.SystemPlace}},
		{"6.8 AfterTheAssistant", []decant.Message{hello, yes, system(text("x")), yes, hello}, []legal.Rule{legal.SystemPlace}},
		{"6.8 AfterAServerResult", []decant.Message{hello, model(opaque(serverUse), opaque(serverResult)), system(text("x")), yes, hello}, nil},
		{
			"6.8 BetweenCallAndResult", []decant.Message{hello, model(use("a")), system(text("x")), user(result("a"))},
			[]legal.Rule{legal.CallAnswered, legal.SystemPlace, legal.SystemPlace, legal.ResultCalled},
		},
		{"6.9 Four", []decant.Message{user(marked(text("1"), "1h"), marked(text("2"), "5m"), marked(text("3"), "5m"), marked(text("4"), "5m"))}, nil},
		{"6.9 Five", []decant.Message{user(marked(text("1"), "5m"), marked(text("2"), "5m"), marked(text("3"), "5m"), marked(text("4"), "5m"), marked(text("5"), "5m"))}, []legal.Rule{legal.Breakpoints}},
		{"6.9 HourAfterFiveMinutes", []decant.Message{user(marked(text("1"), "5m"), marked(text("2"), "1h"))}, []legal.Rule{legal.Lifetimes}},
		{"6.10 Answered", []decant.Message{hello, model(opaque(serverUse), opaque(serverResult), text("found")), hello}, nil},
		{"6.10 NotAnswered", []decant.Message{hello, model(opaque(serverUse)), hello}, []legal.Rule{legal.ServerResult}},
		{"6.10 PausedTurnIsContinued", []decant.Message{hello, model(opaque(serverUse))}, nil},
		{"5 MarkerOnThinking", []decant.Message{hello, model(marked(think("x"), "5m"), text("y")), hello}, []legal.Rule{legal.NoMarker}},
	}
	rules := rulesFor(t, legal.Messages, "claude-opus-4-6", decant.ThinkingAdaptive)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := legal.Check(talk(tt.ms...), rules)
			if diff := cmp.Diff(tt.want, rulesOf(got)); diff != "" {
				t.Errorf("%v\n(-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestMessagesModelDecides(t *testing.T) {
	prefill := talk(user(text("hello")), model(text("{")))
	if got := legal.Check(prefill, rulesFor(t, legal.Messages, "claude-sonnet-4-5", "")); got != nil {
		t.Errorf("6.6 Claude 4.5 takes a prefill, got %v", got)
	}
	if got := legal.Check(prefill, rulesFor(t, legal.Messages, "claude-of-the-future", "")); len(got) != 1 || got[0].Rule != legal.NoPrefill {
		t.Errorf("6.6 unknown Claude models count as new, got %v", got)
	}
	greedy := talk(user(text("hello")))
	greedy.MaxOutput = 100_000
	if got := legal.Check(greedy, rulesFor(t, legal.Messages, "claude-sonnet-4-5", "")); len(got) != 1 || got[0].Rule != legal.OutputLimit {
		t.Errorf("6.11 got %v", got)
	}
	if got := legal.Check(greedy, rulesFor(t, legal.Messages, "claude-opus-4-6", "")); got != nil {
		t.Errorf("6.11 got %v", got)
	}
}

func TestMarkersOfSystemAndToolsCount(t *testing.T) {
	c := talk(user(marked(text("1"), "5m"), marked(text("2"), "5m")))
	c.Fixed.Tools = []decant.Tool{{Name: "a", Cache: "5m"}}
	c.Fixed.System = []decant.Block{marked(text("be brief"), "5m")}
	rules := rulesFor(t, legal.Messages, "claude-opus-4-6", "")
	if got := legal.Check(c, rules); got != nil {
		t.Errorf("6.9 four markers: got %v", got)
	}
	rules.Automatic = true
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.Breakpoints {
		t.Errorf("6.9 the automatic one is the fifth: got %v", got)
	}
	c.Fixed.System[0].Cache = "1h"
	rules.Automatic = false
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.Lifetimes || got[0].Index != -1 {
		t.Errorf("6.9 an hour in the system prompt after five minutes in the tools: got %v", got)
	}
}

// Markers inside a result and the automatic one count, and keep the order of lifetimes (audit 11, 18).
func TestHiddenMarkersCount(t *testing.T) {
	result := decant.Block{Kind: decant.KindResult, CallID: "a", Content: decant.Text("x"), Inside: []string{"1h", "5m"}}
	c := talk(user(marked(text("1"), "1h")), model(use("a")), user(result, marked(text("2"), "5m")))
	rules := rulesFor(t, legal.Messages, "claude-opus-4-6", "")
	if got := legal.Check(c, rules); got != nil {
		t.Errorf("6.9 four markers, two of them inside: got %v", got)
	}
	c.Cache = "5m"
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.Breakpoints {
		t.Errorf("6.9 the automatic one is the fifth: got %v", got)
	}
	c.Messages[0].Blocks[0].Cache, c.Cache = "", "1h"
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.Lifetimes {
		t.Errorf("6.9 an automatic hour after five minutes: got %v", got)
	}
	c.Cache, result.Inside[0], result.Inside[1] = "", "5m", "1h"
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.Lifetimes {
		t.Errorf("6.9 an hour after five minutes inside a result: got %v", got)
	}
}

func TestRecordsMayEndAnywhere(t *testing.T) {
	rules := rulesFor(t, legal.Messages, "claude-opus-4-6", "")
	rules.Record, rules.ReuseIDs = true, true
	for name, c := range map[string]*decant.Conversation{
		"Answer":   talk(user(text("hello")), model(text("yes"))),
		"OpenCall": talk(user(text("hello")), model(use("a"))),
		"ReusedID": talk(user(text("hello")), model(use("a")), user(result("a")), model(use("a")), user(result("a"))),
	} {
		if got := legal.Check(c, rules); got != nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// What the client's own compaction hides is not sent.
func TestHiddenMessagesAreNotChecked(t *testing.T) {
	c := talk(user(text("hello")), model(use("lost")), user(text("summary")), model(text("")), user(text("go")))
	c.Messages[2].Compaction = true
	got := legal.Check(c, rulesFor(t, legal.Messages, "claude-opus-4-6", ""))
	want := []legal.Violation{{Message: 4, Index: 3, Block: 0, Rule: legal.TextNotEmpty, Text: "text must hold something besides blanks"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestThinking(t *testing.T) {
	manual, adaptive := decant.ThinkingManual, decant.ThinkingAdaptive
	round := func() *decant.Conversation {
		return talk(user(text("go")), model(think("first"), use("a")), user(result("a")), model(think("one"), think("two"), use("b")), user(result("b")))
	}
	dropOf := func(message, block int) func([]decant.Message) []decant.Message {
		return func(ms []decant.Message) []decant.Message {
			b := ms[message].Blocks
			ms[message].Blocks = append(b[:block:block], b[block+1:]...)
			return ms
		}
	}
	tests := []struct {
		name   string
		mode   decant.Thinking
		c      *decant.Conversation
		change func([]decant.Message) []decant.Message
		want   []legal.Rule
	}{
		{"6.7 Unchanged", adaptive, round(), func(ms []decant.Message) []decant.Message { return ms }, nil},
		{"6.7 Edited", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[3].Blocks[0].Content = decant.Text("on")
			return ms
		}, []legal.Rule{legal.SameThinking}},
		{"6.7 SignatureLost", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[3].Blocks[0].Signed = false
			return ms
		}, []legal.Rule{legal.SameThinking}},
		{"6.7 Invented", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[1].Blocks[0] = think("first")
			return ms
		}, []legal.Rule{legal.SameThinking}},
		{"6.7 Reordered", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[3].Blocks[0], ms[3].Blocks[1] = ms[3].Blocks[1], ms[3].Blocks[0]
			return ms
		}, []legal.Rule{legal.SameThinking}},
		{"6.7 DroppedFromTheOpenRound", adaptive, round(), dropOf(3, 1), []legal.Rule{legal.SameThinking}},
		{"6.7 DroppedFromAFinishedRound", adaptive, round(), dropOf(1, 0), nil},
		{"6.7 DroppedFromAFinishedTurn", adaptive, talk(user(text("go")), model(think("x"), text("done")), user(text("more"))), dropOf(1, 0), nil},
		{"6.7 ManualTurnStartsWithThinking", manual, talk(user(text("go")), model(text("ok"), use("a")), user(result("a"))), func(ms []decant.Message) []decant.Message { return ms }, []legal.Rule{legal.ThinkingFirst}},
		{"6.7 ManualThinksOnceForAllCalls", manual, talk(user(text("go")), model(think("x"), use("a")), user(result("a")), model(use("b")), user(result("b"))), func(ms []decant.Message) []decant.Message { return ms }, nil},
		{"6.7 ManualFinishedTurn", manual, talk(user(text("go")), model(text("ok")), user(text("more"))), func(ms []decant.Message) []decant.Message { return ms }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := rulesFor(t, legal.Messages, "claude-opus-4-6", tt.mode).Of(tt.c)
			got := legal.Check(edit(tt.c, tt.change), rules)
			if diff := cmp.Diff(tt.want, rulesOf(got)); diff != "" {
				t.Errorf("%v\n(-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestChat(t *testing.T) {
	hello := user(text("hello"))
	tests := []struct {
		name string
		ms   []decant.Message
		want []legal.Rule
	}{
		{"1 Legal", []decant.Message{hello, model(use("a"), use("b")), tool(result("b")), tool(result("a")), model(text("done"))}, nil},
		{"1 AssistantFirst", []decant.Message{model(text("welcome")), hello}, nil},
		{"1 IDsMayRepeat", []decant.Message{hello, model(use("a")), tool(result("a")), model(use("a")), tool(result("a"))}, nil},
		{"1 ResultsInAMessageOfTheUser", []decant.Message{hello, model(use("a")), user(result("a"), text("go on"))}, nil},
		{"1 NotAnswered", []decant.Message{hello, model(use("a"), use("b")), tool(result("a"))}, []legal.Rule{legal.ChatCall}},
		{"1 UserBetween", []decant.Message{hello, model(use("a")), hello, tool(result("a"))}, []legal.Rule{legal.ChatCall, legal.ChatResult}},
		{"1 AssistantBetween", []decant.Message{hello, model(use("a")), model(use("b")), tool(result("a")), tool(result("b"))}, []legal.Rule{legal.ChatCall, legal.ChatResult}},
		{"1 Orphan", []decant.Message{hello, tool(result("a"))}, []legal.Rule{legal.ChatResult}},
		{"1 AnsweredTwice", []decant.Message{hello, model(use("a")), tool(result("a")), tool(result("a"))}, []legal.Rule{legal.ChatResult}},
		{"1 SameIDTwiceInOneMessage", []decant.Message{hello, model(use("a"), use("a")), tool(result("a"))}, []legal.Rule{legal.ChatCall}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := legal.Check(talk(tt.ms...), rulesFor(t, legal.Chat, "gpt-5", ""))
			if diff := cmp.Diff(tt.want, rulesOf(got)); diff != "" {
				t.Errorf("%v\n(-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestResponses(t *testing.T) {
	hello := user(text("hello"))
	tests := []struct {
		name string
		ms   []decant.Message
		want []legal.Rule
	}{
		{"2 Legal", []decant.Message{hello, model(think("r"), use("a")), tool(result("a")), model(think("r"), text("done"))}, nil},
		{"2 OutputsNeedNotFollowDirectly", []decant.Message{hello, model(use("a"), use("b")), tool(result("a")), hello, tool(result("b"))}, nil},
		{"2 NoOutput", []decant.Message{hello, model(use("a")), hello}, []legal.Rule{legal.ItemOutput}},
		{"2 NoCall", []decant.Message{hello, tool(result("a"))}, []legal.Rule{legal.ItemCall}},
		{"2 OutputBeforeItsCall", []decant.Message{hello, tool(result("a")), model(use("a"))}, []legal.Rule{legal.ItemCall, legal.ItemOutput}},
		{"2 ReasoningAlone", []decant.Message{hello, model(think("r")), hello}, []legal.Rule{legal.ReasoningFollowed}},
		{"2 ReasoningLast", []decant.Message{hello, model(text("x"), think("r"))}, []legal.Rule{legal.ReasoningFollowed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := legal.Check(talk(tt.ms...), rulesFor(t, legal.Responses, "gpt-5", ""))
			if diff := cmp.Diff(tt.want, rulesOf(got)); diff != "" {
				t.Errorf("%v\n(-want +got):\n%s", got, diff)
			}
		})
	}
	t.Run("2 ItemWithoutItsReasoning", func(t *testing.T) {
		c := talk(hello, model(think("r"), use("a")), tool(result("a")))
		view := edit(c, func(ms []decant.Message) []decant.Message {
			ms[1].Blocks = ms[1].Blocks[1:]
			return ms
		})
		got := legal.Check(view, rulesFor(t, legal.Responses, "gpt-5", "").Of(c))
		if diff := cmp.Diff([]legal.Rule{legal.ReasoningKept}, rulesOf(got)); diff != "" {
			t.Errorf("%v\n(-want +got):\n%s", got, diff)
		}
	})
}

func TestViolationsSayWhere(t *testing.T) {
	got := legal.Check(talk(user(text("hello")), model(use("a")), user(text("x"))), rulesFor(t, legal.Messages, "claude-opus-4-6", ""))
	if len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	want := legal.Violation{Message: 2, Index: 1, Block: 0, Rule: legal.CallAnswered, Text: "call a has no result in the next message"}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := got[0].Error(); !strings.Contains(s, "m2") || !strings.Contains(s, "6.2") || !errors.Is(got[0], decant.ErrIllegal) {
		t.Errorf("got %q", s)
	}
}
