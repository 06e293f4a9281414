package legal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/legal"
	"github.com/google/go-cmp/cmp"
)

// The names of the cases start with the rule that they are about.
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
		{"first-message Legal", []decant.Message{hello, yes, hello}, nil},
		{"first-message NoMessages", nil, []legal.Rule{legal.FirstMessage}},
		{"first-message AssistantFirst", []decant.Message{yes, hello}, []legal.Rule{legal.FirstMessage}},
		{"first-message CompactionFirst", []decant.Message{model(opaque(compaction)), hello}, nil},
		{"first-message NeighboursOfOneRoleAreMerged", []decant.Message{hello, hello, yes, yes, hello}, nil},
		{
			"tool-result-missing Answered",
			[]decant.Message{hello, model(use("a"), use("b")), user(result("b"), result("a"), text("go on"))},
			nil,
		},
		{
			"tool-result-missing AnsweredInMergedMessages",
			[]decant.Message{hello, model(use("a")), model(use("b")), user(result("a")), user(result("b")), hello},
			nil,
		},
		{
			"tool-result-missing NotAnswered", []decant.Message{hello, model(use("a")), hello},
			[]legal.Rule{legal.ToolResultMissing},
		},
		{
			"tool-result-missing HalfAnswered",
			[]decant.Message{hello, model(use("a"), use("b")), user(result("a"))},
			[]legal.Rule{legal.ToolResultMissing},
		},
		{
			"tool-result-missing AnsweredTooLate",
			[]decant.Message{hello, model(use("a")), hello, yes, user(result("a"))},
			[]legal.Rule{legal.ToolResultMissing, legal.ToolResultOrphan},
		},
		{"tool-result-missing CallOfTheUser", []decant.Message{user(use("a"))}, []legal.Rule{legal.ToolResultMissing}},
		{"tool-result-orphan Orphan", []decant.Message{hello, yes, user(result("a"))}, []legal.Rule{legal.ToolResultOrphan}},
		{"tool-result-orphan OrphanAtTheStart", []decant.Message{user(result("a"))}, []legal.Rule{legal.ToolResultOrphan}},
		{
			"tool-result-orphan AnsweredTwice",
			[]decant.Message{hello, model(use("a")), user(result("a"), result("a"), result("a"))},
			[]legal.Rule{legal.ToolResultOrphan, legal.ToolResultOrphan},
		},
		{
			"tool-result-orphan ResultOfTheAssistant",
			[]decant.Message{hello, model(text("x"), result("a")), hello}, []legal.Rule{legal.ToolResultOrphan},
		},
		{
			"tool-results-first ResultBehindText",
			[]decant.Message{hello, model(use("a")), user(text("wait"), result("a"))},
			[]legal.Rule{legal.ToolResultsFirst},
		},
		{
			"tool-results-first ResultBehindTextOfAnotherMessage",
			[]decant.Message{hello, model(use("a")), hello, user(result("a"))},
			[]legal.Rule{legal.ToolResultsFirst},
		},
		{
			"call-id-form Characters", []decant.Message{hello, model(use("a.b")), user(result("a.b"))},
			[]legal.Rule{legal.CallIDForm},
		},
		{"call-id-form NoID", []decant.Message{hello, model(use("")), user(result(""))}, []legal.Rule{legal.CallIDForm}},
		{
			"call-id-unique UsedTwice",
			[]decant.Message{hello, model(use("a")), user(result("a")), model(use("a")), user(result("a"))},
			[]legal.Rule{legal.CallIDUnique},
		},
		{"text-empty Empty", []decant.Message{user(text(""))}, []legal.Rule{legal.TextEmpty}},
		{"text-empty Blank", []decant.Message{user(text(" \n\t"))}, []legal.Rule{legal.TextEmpty}},
		{"text-empty NoBlocks", []decant.Message{hello, model(), hello}, []legal.Rule{legal.TextEmpty}},
		{
			"text-empty EmptyResultIsLegal",
			[]decant.Message{hello, model(use("a")), user(decant.Block{Kind: decant.KindResult, CallID: "a"})},
			nil,
		},
		{"prefill Prefill", []decant.Message{hello, yes}, []legal.Rule{legal.Prefill}},
		{"system-place First", []decant.Message{system(text("x")), hello}, []legal.Rule{legal.SystemPlace}},
		{"system-place Last", []decant.Message{hello, system(text("x"))}, nil},
		{"system-place BeforeTheAssistant", []decant.Message{hello, system(text("x")), yes, hello}, nil},
		{"system-place BeforeTheUser", []decant.Message{hello, system(text("x")), hello}, []legal.Rule{legal.SystemPlace}},
		{
			"system-place AfterTheAssistant", []decant.Message{hello, yes, system(text("x")), yes, hello},
			[]legal.Rule{legal.SystemPlace},
		},
		{
			"system-place AfterAServerResult",
			[]decant.Message{hello, model(opaque(serverUse), opaque(serverResult)), system(text("x")), yes, hello},
			nil,
		},
		{
			"system-place BetweenCallAndResult", []decant.Message{hello, model(use("a")), system(text("x")), user(result("a"))},
			[]legal.Rule{legal.ToolResultMissing, legal.SystemPlace, legal.SystemPlace, legal.ToolResultOrphan},
		},
		{
			"cache-markers-many Four",
			[]decant.Message{user(marked(text("1"), "1h"), marked(text("2"), "5m"), marked(text("3"), "5m"), marked(text("4"), "5m"))},
			nil,
		},
		{
			"cache-markers-many Five",
			[]decant.Message{user(marked(text("1"), "5m"), marked(text("2"), "5m"), marked(text("3"), "5m"), marked(text("4"), "5m"), marked(text("5"), "5m"))},
			[]legal.Rule{legal.CacheMarkersMany},
		},
		{
			"cache-lifetimes-order HourAfterFiveMinutes",
			[]decant.Message{user(marked(text("1"), "5m"), marked(text("2"), "1h"))},
			[]legal.Rule{legal.CacheLifetimesOrder},
		},
		{
			"server-result-missing Answered",
			[]decant.Message{hello, model(opaque(serverUse), opaque(serverResult), text("found")), hello}, nil,
		},
		{
			"server-result-missing NotAnswered", []decant.Message{hello, model(opaque(serverUse)), hello},
			[]legal.Rule{legal.ServerResultMissing},
		},
		{"server-result-missing PausedTurnIsContinued", []decant.Message{hello, model(opaque(serverUse))}, nil},
		{
			"server-result-missing WaitsBesideACall",
			[]decant.Message{hello, model(opaque(serverUse), use("a")), user(result("a"))}, nil,
		},
		{
			"server-result-missing WaitsForSomeRounds",
			[]decant.Message{hello, model(opaque(serverUse), use("a")), user(result("a")), model(use("b")), user(result("b"))},
			nil,
		},
		{
			"server-result-missing AnsweredBehindTheClientsResults",
			[]decant.Message{
				hello, model(opaque(serverUse), use("a")), user(result("a")),
				model(opaque(serverResult), text("found")), hello,
			},
			nil,
		},
		{
			"server-result-missing AnsweredSomeRoundsLater",
			[]decant.Message{
				hello, model(opaque(serverUse), use("a")), user(result("a")), model(use("b")),
				user(result("b")), model(opaque(serverResult)), hello,
			},
			nil,
		},
		{
			"server-result-missing TextBehindTheResults",
			[]decant.Message{hello, model(opaque(serverUse), use("a")), user(result("a"), text("and"))},
			[]legal.Rule{legal.ServerResultMissing},
		},
		{
			"server-result-missing TextInAMessageOfItsOwn",
			[]decant.Message{hello, model(opaque(serverUse), use("a")), user(result("a")), hello},
			[]legal.Rule{legal.ServerResultMissing},
		},
		{
			"server-result-missing TextBeforeTheAnswer",
			[]decant.Message{
				hello, model(opaque(serverUse), use("a")), user(result("a"), text("and")),
				model(opaque(serverResult)), hello,
			},
			[]legal.Rule{legal.ServerResultMissing, legal.ServerResultOrphan},
		},
		{
			"server-result-missing NotAnsweredBehindTheResults",
			[]decant.Message{hello, model(opaque(serverUse), use("a")), user(result("a")), yes, hello},
			[]legal.Rule{legal.ServerResultMissing},
		},
		{
			"server-result-orphan NoCall",
			[]decant.Message{hello, model(opaque(serverResult), text("found")), hello},
			[]legal.Rule{legal.ServerResultOrphan},
		},
		{
			"server-result-orphan AnsweredTwice",
			[]decant.Message{hello, model(opaque(serverUse), opaque(serverResult), opaque(serverResult)), hello},
			[]legal.Rule{legal.ServerResultOrphan},
		},
		{
			"server-result-orphan BeforeItsCall",
			[]decant.Message{hello, model(opaque(serverResult), opaque(serverUse), opaque(serverResult)), hello},
			[]legal.Rule{legal.ServerResultOrphan},
		},
		{
			"cache-marker-on-thinking MarkerOnThinking",
			[]decant.Message{hello, model(marked(think("x"), "5m"), text("y")), hello},
			[]legal.Rule{legal.CacheMarkerOnThinking},
		},
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
		t.Errorf("prefill Claude 4.5 takes a prefill, got %v", got)
	}
	if got := legal.Check(prefill, rulesFor(t, legal.Messages, "claude-of-the-future", "")); len(got) != 1 ||
		got[0].Rule != legal.Prefill {
		t.Errorf("prefill unknown Claude models count as new, got %v", got)
	}
	greedy := talk(user(text("hello")))
	greedy.MaxOutput = 100_000
	if got := legal.Check(greedy, rulesFor(t, legal.Messages, "claude-sonnet-4-5", "")); len(got) != 1 ||
		got[0].Rule != legal.OutputLimit {
		t.Errorf("output-limit got %v", got)
	}
	if got := legal.Check(greedy, rulesFor(t, legal.Messages, "claude-opus-4-6", "")); got != nil {
		t.Errorf("output-limit got %v", got)
	}
}

func TestMarkersOfSystemAndToolsCount(t *testing.T) {
	c := talk(user(marked(text("1"), "5m"), marked(text("2"), "5m")))
	c.Fixed.Tools = []decant.Tool{{Name: "a", Cache: "5m"}}
	c.Fixed.System = []decant.Block{marked(text("be brief"), "5m")}
	rules := rulesFor(t, legal.Messages, "claude-opus-4-6", "")
	if got := legal.Check(c, rules); got != nil {
		t.Errorf("cache-markers-many four markers: got %v", got)
	}
	rules.Automatic = true
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.CacheMarkersMany {
		t.Errorf("cache-markers-many the automatic one is the fifth: got %v", got)
	}
	c.Fixed.System[0].Cache = "1h"
	rules.Automatic = false
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.CacheLifetimesOrder || got[0].Index != -1 {
		t.Errorf("cache-lifetimes-order an hour in the system prompt after five minutes in the tools: got %v", got)
	}
}

// Markers inside a result and the automatic one count, and keep the order of lifetimes.
func TestHiddenMarkersCount(t *testing.T) {
	result := decant.Block{Kind: decant.KindResult, CallID: "a", Content: decant.Text("x"), Inside: []string{"1h", "5m"}}
	c := talk(user(marked(text("1"), "1h")), model(use("a")), user(result, marked(text("2"), "5m")))
	rules := rulesFor(t, legal.Messages, "claude-opus-4-6", "")
	if got := legal.Check(c, rules); got != nil {
		t.Errorf("cache-markers-many four markers, two of them inside: got %v", got)
	}
	c.Cache = "5m"
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.CacheMarkersMany {
		t.Errorf("cache-markers-many the automatic one is the fifth: got %v", got)
	}
	c.Messages[0].Blocks[0].Cache, c.Cache = "", "1h"
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.CacheLifetimesOrder {
		t.Errorf("cache-lifetimes-order an automatic hour after five minutes: got %v", got)
	}
	c.Cache, result.Inside[0], result.Inside[1] = "", "5m", "1h"
	if got := legal.Check(c, rules); len(got) != 1 || got[0].Rule != legal.CacheLifetimesOrder {
		t.Errorf("cache-lifetimes-order an hour after five minutes inside a result: got %v", got)
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
	want := []legal.Violation{{Message: 4, Index: 3, Block: 0, Rule: legal.TextEmpty, Text: "text must hold something besides blanks"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestThinking(t *testing.T) {
	manual, adaptive := decant.ThinkingManual, decant.ThinkingAdaptive
	round := func() *decant.Conversation {
		return talk(user(text("go")), model(think("first"), use("a")), user(result("a")),
			model(think("one"), think("two"), use("b")), user(result("b")))
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
		{"thinking-changed Unchanged", adaptive, round(), func(ms []decant.Message) []decant.Message { return ms }, nil},
		{"thinking-changed Edited", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[3].Blocks[0].Content = decant.Text("on")
			return ms
		}, []legal.Rule{legal.ThinkingChanged}},
		{"thinking-changed SignatureLost", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[3].Blocks[0].Signed = false
			return ms
		}, []legal.Rule{legal.ThinkingUnsigned, legal.ThinkingChanged}},
		{"thinking-changed Invented", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[1].Blocks[0] = think("first")
			return ms
		}, []legal.Rule{legal.ThinkingChanged}},
		{"thinking-changed Reordered", adaptive, round(), func(ms []decant.Message) []decant.Message {
			ms[3].Blocks[0], ms[3].Blocks[1] = ms[3].Blocks[1], ms[3].Blocks[0]
			return ms
		}, []legal.Rule{legal.ThinkingChanged}},
		{"thinking-changed DroppedFromTheOpenRound", adaptive, round(), dropOf(3, 1), []legal.Rule{legal.ThinkingChanged}},
		{"thinking-changed DroppedFromAFinishedRound", adaptive, round(), dropOf(1, 0), nil},
		{
			"thinking-changed DroppedFromAFinishedTurn", adaptive,
			talk(user(text("go")), model(think("x"), text("done")), user(text("more"))), dropOf(1, 0), nil,
		},
		{
			"thinking-first ManualTurnStartsWithThinking", manual,
			talk(user(text("go")), model(text("ok"), use("a")), user(result("a"))),
			func(ms []decant.Message) []decant.Message { return ms }, []legal.Rule{legal.ThinkingFirst},
		},
		{
			"thinking-first ManualThinksOnceForAllCalls", manual,
			talk(user(text("go")), model(think("x"), use("a")), user(result("a")), model(use("b")), user(result("b"))),
			func(ms []decant.Message) []decant.Message { return ms }, nil,
		},
		{
			"thinking-first ManualFinishedTurn", manual,
			talk(user(text("go")), model(text("ok")), user(text("more"))),
			func(ms []decant.Message) []decant.Message { return ms }, nil,
		},
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
		{
			"tool-message-missing Legal",
			[]decant.Message{hello, model(use("a"), use("b")), tool(result("b")), tool(result("a")), model(text("done"))},
			nil,
		},
		{"tool-message-missing AssistantFirst", []decant.Message{model(text("welcome")), hello}, nil},
		{
			"tool-message-missing IDsMayRepeat",
			[]decant.Message{hello, model(use("a")), tool(result("a")), model(use("a")), tool(result("a"))},
			nil,
		},
		{
			"tool-message-orphan ResultsInAMessageOfTheUser",
			[]decant.Message{hello, model(use("a")), user(result("a"), text("go on"))}, nil,
		},
		{
			"tool-message-missing NotAnswered",
			[]decant.Message{hello, model(use("a"), use("b")), tool(result("a"))},
			[]legal.Rule{legal.ToolMessageMissing},
		},
		{
			"tool-message-missing UserBetween",
			[]decant.Message{hello, model(use("a")), hello, tool(result("a"))},
			[]legal.Rule{legal.ToolMessageMissing, legal.ToolMessageOrphan},
		},
		{
			"tool-message-missing AssistantBetween",
			[]decant.Message{hello, model(use("a")), model(use("b")), tool(result("a")), tool(result("b"))},
			[]legal.Rule{legal.ToolMessageMissing, legal.ToolMessageOrphan},
		},
		{"tool-message-orphan Orphan", []decant.Message{hello, tool(result("a"))}, []legal.Rule{legal.ToolMessageOrphan}},
		{
			"tool-message-orphan AnsweredTwice",
			[]decant.Message{hello, model(use("a")), tool(result("a")), tool(result("a"))},
			[]legal.Rule{legal.ToolMessageOrphan},
		},
		{
			"tool-message-missing SameIDTwiceInOneMessage",
			[]decant.Message{hello, model(use("a"), use("a")), tool(result("a"))},
			[]legal.Rule{legal.ToolMessageMissing},
		},
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
		{
			"item-output-missing Legal",
			[]decant.Message{hello, model(think("r"), use("a")), tool(result("a")), model(think("r"), text("done"))},
			nil,
		},
		{
			"item-output-missing OutputsNeedNotFollowDirectly",
			[]decant.Message{hello, model(use("a"), use("b")), tool(result("a")), hello, tool(result("b"))},
			nil,
		},
		{
			"item-output-missing NoOutput", []decant.Message{hello, model(use("a")), hello},
			[]legal.Rule{legal.ItemOutputMissing},
		},
		{"item-output-orphan NoCall", []decant.Message{hello, tool(result("a"))}, []legal.Rule{legal.ItemOutputOrphan}},
		{
			"item-output-orphan OutputBeforeItsCall",
			[]decant.Message{hello, tool(result("a")), model(use("a"))},
			[]legal.Rule{legal.ItemOutputOrphan, legal.ItemOutputMissing},
		},
		{
			"item-output-orphan ProgramLegal",
			[]decant.Message{hello, model(paired("program", "p"), use("a")), tool(result("a")), model(paired("program_output", "p"))},
			nil,
		},
		{
			"item-output-orphan ProgramGone",
			[]decant.Message{hello, model(paired("program_output", "p")), hello},
			[]legal.Rule{legal.ItemOutputOrphan},
		},
		{
			"reasoning-alone ReasoningAlone", []decant.Message{hello, model(think("r")), hello},
			[]legal.Rule{legal.ReasoningAlone},
		},
		{
			"reasoning-alone ReasoningLast", []decant.Message{hello, model(text("x"), think("r"))},
			[]legal.Rule{legal.ReasoningAlone},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := legal.Check(talk(tt.ms...), rulesFor(t, legal.Responses, "gpt-5", ""))
			if diff := cmp.Diff(tt.want, rulesOf(got)); diff != "" {
				t.Errorf("%v\n(-want +got):\n%s", got, diff)
			}
		})
	}
	t.Run("fixed-missing WhatConfiguresIsGone", func(t *testing.T) {
		c := talk(hello, decant.Message{Role: decant.RoleSystem, Fixed: true, Blocks: []decant.Block{text("use tabs")}},
			model(text("x")))
		view := edit(c, func(ms []decant.Message) []decant.Message { return append(ms[:1:1], ms[2:]...) })
		got := legal.Check(view, rulesFor(t, legal.Responses, "gpt-5", "").Of(c))
		if diff := cmp.Diff([]legal.Rule{legal.FixedMissing}, rulesOf(got)); diff != "" {
			t.Errorf("%v\n(-want +got):\n%s", got, diff)
		}
	})
	t.Run("reasoning-missing ItemWithoutItsReasoning", func(t *testing.T) {
		c := talk(hello, model(think("r"), use("a")), tool(result("a")))
		view := edit(c, func(ms []decant.Message) []decant.Message {
			ms[1].Blocks = ms[1].Blocks[1:]
			return ms
		})
		got := legal.Check(view, rulesFor(t, legal.Responses, "gpt-5", "").Of(c))
		if diff := cmp.Diff([]legal.Rule{legal.ReasoningMissing}, rulesOf(got)); diff != "" {
			t.Errorf("%v\n(-want +got):\n%s", got, diff)
		}
	})
}

func TestViolationsSayWhere(t *testing.T) {
	got := legal.Check(talk(user(text("hello")), model(use("a")), user(text("x"))),
		rulesFor(t, legal.Messages, "claude-opus-4-6", ""))
	if len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	want := legal.Violation{
		Message: 2, Index: 1, Block: 0, Rule: legal.ToolResultMissing,
		Text: "call a has no result in the next message",
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := got[0].Error(); !strings.Contains(s, "m2") || !strings.Contains(s, "rule tool-result-missing") ||
		!errors.Is(got[0], decant.ErrIllegal) {
		t.Errorf("got %q", s)
	}
}
