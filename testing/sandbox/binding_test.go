package sandbox_test

import (
	"math/bits"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

const (
	bindingBeta = "thinking-binding-controls-2026-08-01"
	adaptive    = `"thinking":{"type":"adaptive"},`
	dropBlock   = `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},`
	system      = `"system":[{"type":"text","text":"be brief"}],`
)

// finished returns a conversation of three turns with two calls each, nine thinking blocks, in which
// the user has just said something.
func finished(t *testing.T, url, model, thinking string) *talk {
	k := &talk{t: t, url: url, model: model, fields: thinking + bash + system, header: []string{"x-session-id", t.Name() + model}}
	for _, text := range []string{"first", "second", "third"} {
		k.turn(text)
	}
	if got := len(k.thoughts()); got != 9 {
		t.Fatalf("%d thinking blocks, want 9", got)
	}
	k.add(say("fourth"))
	return k
}

// opened returns the same conversation in the middle of the fourth turn.
func opened(t *testing.T, url, model, thinking string) *talk {
	k := finished(t, url, model, thinking)
	k.reply(k.ask(), "output")
	return k
}

// What the refusals of thinking say that was changed or is bound (docs/reference/anthropic.md, "Refusals").
const (
	mismatch = "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	modified = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"
)

// edit replaces text in the blocks of a message.
func edit(k *talk, message int, from, to string) {
	old := strings.Join(k.msgs[message].Content, "\x00")
	if !strings.Contains(old, from) {
		k.t.Fatalf("nothing to edit in %s", old)
	}
	k.msgs[message].Content = strings.Split(strings.ReplaceAll(old, from, to), "\x00")
}

// bindings are changes to a conversation, and what the server says to it afterwards.
var bindings = []struct {
	name   string
	open   bool
	change func(k *talk)
	text   string // of the 400; accepted when empty
}{
	{"binding/Appended", false, func(k *talk) {}, ""},
	{"binding/AppendedOpen", true, func(k *talk) {}, ""},
	{"binding/OldResultEdited", false, func(k *talk) { edit(k, 2, "result of", "shorter") }, mismatch + " A message before the block has changed"},
	{"binding/OldResultEditedOpen", true, func(k *talk) { edit(k, 2, "result of", "shorter") }, mismatch},
	{"binding/UserWordsEdited", false, func(k *talk) { edit(k, 0, "first", "First") }, mismatch},
	{"binding/MessagesDeleted", false, func(k *talk) { k.msgs = append(k.msgs[:1:1], k.msgs[5:]...) }, mismatch},
	{"binding/SystemChanged", false, func(k *talk) { k.fields = strings.Replace(k.fields, "brief", "long", 1) }, "The system prompt has changed"},
	{"binding/ToolsChanged", false, func(k *talk) {
		k.fields = strings.Replace(k.fields, `"object"}`, `"object","properties":{}}`, 1)
	}, "The tools have changed"},
	{"binding/AllThinkingRemoved", false, func(k *talk) { k.without(0, 1, 2, 3, 4, 5, 6, 7, 8) }, ""},
	{"binding/AllThinkingRemovedWithEdit", false, func(k *talk) {
		k.without(0, 1, 2, 3, 4, 5, 6, 7, 8)
		edit(k, 2, "result of", "shorter")
	}, ""},
	{"binding/FirstThinkingRemoved", false, func(k *talk) { k.without(0) }, ""},
	{"binding/FirstFourThinkingRemoved", false, func(k *talk) { k.without(0, 1, 2, 3) }, ""},
	{"binding/FirstThinkingRemovedOpen", true, func(k *talk) { k.without(0, 1) }, ""},
	{"binding/LastThinkingRemoved", false, func(k *talk) { k.without(-1) }, ""},
	{"binding/LastThreeThinkingRemoved", false, func(k *talk) { k.without(-1, -2, -3) }, ""},
	{"binding/FirstAndLastThinkingRemoved", false, func(k *talk) { k.without(0, -1) }, ""},
	{"binding/MiddleThinkingRemoved", false, func(k *talk) { k.without(4) }, mismatch + " A thinking block between this one and an earlier one was removed."},
	{"binding/MiddleThinkingRemovedOpen", true, func(k *talk) { k.without(4) }, mismatch},
	{"binding/MarkersMoved", false, func(k *talk) {
		edit(k, 2, `"tool_use_id"`, `"cache_control":{"type":"ephemeral"},"tool_use_id"`)
		edit(k, 0, `"text":"first"`, `"text":"first","cache_control":{"type":"ephemeral","ttl":"1h"}`)
	}, ""},
	{"binding/StringForList", false, func(k *talk) {
		k.fields = strings.Replace(k.fields, `[{"type":"text","text":"be brief"}]`, `"be brief"`, 1)
	}, ""},
	{"binding/KeyOrderAndSpace", false, func(k *talk) {
		k.fields = strings.Replace(k.fields, `{"type":"text","text":"be brief"}`, "{ \"text\" : \"be \\u0062rief\",\n\"type\":\"text\" }", 1)
	}, ""},
	{"binding/OtherParameters", false, func(k *talk) { k.fields += `"metadata":{"user_id":"x"},"output_config":{"effort":"low"},` }, ""},
	{"binding/DefaultsSaid", false, func(k *talk) { edit(k, 2, `"tool_use_id"`, `"is_error":false,"tool_use_id"`) }, ""},
	{"binding/MessagesSplit", false, func(k *talk) {
		m := k.msgs[1]
		k.msgs = append(k.msgs[:1:1], append([]message{{Role: m.Role, Content: m.Content[:2]}, {Role: m.Role, Content: m.Content[2:]}}, k.msgs[2:]...)...)
	}, ""},
	{"binding/ThinkingEdited", false, func(k *talk) { edit(k, 1, `"thinking":"Step`, `"thinking":"step`) }, "messages.1.content.0: Invalid `signature` in `thinking` block"},
	{"binding/SignatureEdited", false, func(k *talk) { edit(k, 1, `"signature":"A`, `"signature":"B`) }, "messages.1.content.0: Invalid `signature` in `thinking` block"},
	{"binding/SignaturesSwapped", false, func(k *talk) {
		k.msgs[1].Content[0], k.msgs[3].Content[0] = k.msgs[3].Content[0], k.msgs[1].Content[0]
	}, mismatch},
	{"thinking-changed/OpenThinkingRemoved", true, func(k *talk) { k.without(-1) }, modified},
	{"thinking-changed/OpenThinkingEdited", true, func(k *talk) { edit(k, len(k.msgs)-2, `"thinking":"Step`, `"thinking":"step`) }, modified},
	{"thinking-changed/AllThinkingRemovedOpen", true, func(k *talk) { k.without(0, 1, 2, 3, 4, 5, 6, 7, 8, 9) }, modified},
	{"binding/Folded", true, func(k *talk) {
		k.msgs = []message{{Role: "user", Content: []string{say("everything so far, as text")}}}
	}, ""},
	{"binding/FoldedButOpenRound", true, func(k *talk) {
		k.msgs = append([]message{{Role: "user", Content: []string{say("everything so far, as text")}}}, k.msgs[len(k.msgs)-2:]...)
	}, mismatch},
}

func TestBinding(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	closedTalk := finished(t, url, newest, adaptive)
	openTalk := opened(t, url, newest, adaptive)
	for _, tt := range bindings {
		t.Run(tt.name, func(t *testing.T) {
			k := closedTalk.copy()
			if tt.open {
				k = openTalk.copy()
			}
			tt.change(k)
			status := k.send()
			if tt.text == "" && status != 200 {
				t.Errorf("refused: %s", k.last.body)
			}
			if tt.text != "" {
				checkError(t, k.last, 400, tt.text)
			}
		})
	}
}

func TestRemovedThinkingDoesNotComeBack(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	for _, part := range []struct {
		name    string
		numbers []int
	}{{"Start", []int{0}}, {"End", []int{-1}}, {"All", []int{0, 1, 2, 3, 4, 5, 6, 7, 8}}} {
		t.Run(part.name, func(t *testing.T) {
			whole := finished(t, url, newest, adaptive)
			k := whole.copy()
			k.without(part.numbers...)
			old := len(k.msgs)
			k.finish()
			k.add(say("fifth"))
			if got := k.copy().send(); got != 200 {
				t.Fatalf("without the removed thinking: %d", got)
			}
			k.msgs = append(whole.copy().msgs, k.msgs[old:]...)
			k.send()
			checkError(t, k.last, 400, "A thinking block that had been removed was added again before it.")
		})
	}
}

func TestDropBlock(t *testing.T) {
	s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	k := opened(t, url, newest, adaptive)
	k.msgs[2].Content[0] = strings.Replace(k.msgs[2].Content[0], "result of", "shortened", 1)

	k.send()
	checkError(t, k.last, 400, "This needs the beta `"+bindingBeta+"`.")
	k.fields = strings.Replace(k.fields, adaptive, dropBlock, 1)
	k.send()
	checkError(t, k.last, 400, "thinking.block_binding: Extra inputs are not permitted")

	k.header = append(k.header, "anthropic-beta", bindingBeta)
	calls := k.ask()
	if got := s.Log.Last().Dropped; got != 9 {
		t.Errorf("%d blocks dropped, want the 9 after the edit", got)
	}
	want := `"input_transformations":[{"type":"thinking_dropped","path":"messages.3.content.0","reason":"prefix_binding_mismatch"},`
	if !strings.Contains(k.last.body, want) {
		t.Errorf("answer %s\nwant %s", k.last.body, want)
	}
	k.reply(calls, "output")
	k.finish()
	for range 3 { // what was dropped stays dropped, what is new fits
		k.turn("go on")
	}
	if got := s.Log.Last().Dropped; got != 9 {
		t.Errorf("later: %d blocks dropped, want 9", got)
	}
	dropped := k.thoughts()[1:10]
	clean := k.copy()
	for i := range dropped {
		clean.without(9 - i)
	}
	clean.fields, clean.header = strings.Replace(clean.fields, dropBlock, adaptive, 1), clean.header[:2]
	clean.add(say("without the control"))
	if got := clean.send(); got != 200 {
		t.Errorf("dropped blocks removed by the client: %s", clean.last.body)
	}
}

func TestDropBlockIsStreamed(t *testing.T) {
	_, url := start(t, sandbox.Options{})
	k := finished3(t, url)
	k.msgs[0].Content[0] = say("changed")
	k.fields = strings.Replace(k.fields, adaptive, dropBlock+`"stream":true,`, 1)
	k.header = append(k.header, "anthropic-beta", bindingBeta)
	if k.send() != 200 || strings.Count(k.last.body, `"input_transformations":[{"type":"thinking_dropped"`) != 2 {
		t.Errorf("want the report in message_start and message_delta: %s", k.last.body)
	}
}

// finished3 returns a short conversation in which the user has just said something.
func finished3(t *testing.T, url string) *talk {
	k := &talk{t: t, url: url, fields: adaptive + bash}
	k.turn("first")
	k.add(say("second"))
	return k
}

func TestUnboundModelsVerifyOnlyTheBlock(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	for _, m := range []struct{ model, thinking, text string }{
		{"claude-opus-4-8", adaptive, "cannot be modified"},
		{old, `"thinking":{"type":"enabled","budget_tokens":2000},`, "Expected `thinking` or `redacted_thinking`, but found `text`"},
	} {
		k := opened(t, url, m.model, m.thinking)
		k.msgs[2].Content[0] = strings.Replace(k.msgs[2].Content[0], "result of", "shortened", 1)
		k.without(4)
		if k.send() != 200 {
			t.Errorf("%s: history edited: %s", m.model, k.last.body)
		}
		broken := k.copy()
		broken.msgs[1].Content[0] = strings.Replace(broken.msgs[1].Content[0], `"thinking":"Step`, `"thinking":"step`, 1)
		broken.send()
		checkError(t, broken.last, 400, "messages.1.content.0: Invalid `signature` in `thinking` block")
		k.without(-1)
		k.send()
		checkError(t, k.last, 400, m.text)
	}
}

func TestManualTurnKeepsItsThinking(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 3}})
	k := &talk{t: t, url: url, model: old, fields: `"thinking":{"type":"enabled","budget_tokens":2000},` + bash}
	k.add(say("go"))
	k.reply(k.ask(), "one")
	k.reply(k.ask(), "two")
	if k.copy().send() != 200 {
		t.Fatal("the turn as it was is refused")
	}
	k.without(0)
	k.send()
	checkError(t, k.last, 400, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`")
}

func TestModelSwitchDropsThinkingSilently(t *testing.T) {
	s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	k := finished(t, url, newest, adaptive)
	k.model = "claude-sonnet-5-5"
	k.turn("on another model")
	if got := s.Log.Last().Dropped; got != 9 {
		t.Errorf("%d blocks dropped, want 9", got)
	}
	if !strings.Contains(k.last.body, `"reason":"model_binding_mismatch"`) {
		t.Errorf("the drop is not reported: %s", k.last.body)
	}
	k.model = newest
	k.turn("and back")
	if got := s.Log.Last().Dropped; got != 3 {
		t.Errorf("%d blocks dropped, want the 3 of the other model", got)
	}
}

func TestOldAccountBindsOnlyOnRequest(t *testing.T) {
	_, url := start(t, sandbox.Options{OldAccount: true})
	k := finished3(t, url)
	k.msgs[0].Content[0] = say("changed")
	if k.copy().send() != 200 {
		t.Error("refused without block_binding")
	}
	k.fields = strings.Replace(k.fields, adaptive, strings.Replace(dropBlock, "drop_block", "error", 1), 1)
	k.header = append(k.header, "anthropic-beta", bindingBeta)
	k.send()
	checkError(t, k.last, 400, "bound to a different conversation")
}

func TestForgottenAnswers(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}, ForgetAnswers: true})
	k := opened(t, url, newest, adaptive)
	broken := k.copy()
	broken.msgs[1].Content[0] = strings.Replace(broken.msgs[1].Content[0], `"thinking":"Step`, `"thinking":"step`, 1)
	broken.send()
	checkError(t, broken.last, 400, "Invalid `signature`")
	k.without(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	if k.send() != 200 {
		t.Errorf("all thinking removed from an open turn: %s", k.last.body)
	}
}

func TestRedactedAndOmittedThinking(t *testing.T) {
	script := &sandbox.Script{Count: true, Answers: []sandbox.Answer{
		{Blocks: []sandbox.Block{{Kind: decant.KindThinking, Text: "secret", Redact: true}, {Kind: decant.KindText, Text: "one"}}},
		{Blocks: []sandbox.Block{{Kind: decant.KindThinking, Text: "shown"}, {Kind: decant.KindText, Text: "two"}}},
	}}
	_, url := start(t, sandbox.Options{Model: script})
	k := &talk{t: t, url: url, fields: strings.Replace(adaptive, `"}`, `","display":"omitted"}`, 1)}
	k.turn("a")
	if !strings.Contains(k.last.body, `{"type":"redacted_thinking","data":"`) || strings.Contains(k.last.body, "secret") {
		t.Errorf("redacted: %s", k.last.body)
	}
	k.turn("b")
	if !strings.Contains(k.last.body, `{"type":"thinking","thinking":"","signature":"`) {
		t.Errorf("omitted: %s", k.last.body)
	}
	k.turn("c")
	k.msgs[0].Content[0] = say("changed")
	k.add(say("d"))
	k.send()
	checkError(t, k.last, 400, "messages.1.content.0: Invalid `signature`")
}

func TestSecretsDiffer(t *testing.T) {
	_, one := start(t, sandbox.Options{})
	_, same := start(t, sandbox.Options{})
	_, other := start(t, sandbox.Options{Secret: []byte("another")})
	k := finished3(t, one)
	k.url = same
	if k.copy().send() != 200 {
		t.Error("a restarted sandbox does not know its signatures")
	}
	k.url = other
	k.send()
	checkError(t, k.last, 400, "Invalid `signature`")
}

// TestThinkingMayBeMissingAtTheEnds tries every way of leaving thinking out of a finished
// conversation: what remains must have had nothing between it.
func TestThinkingMayBeMissingAtTheEnds(t *testing.T) {
	s := sandbox.New(sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	srv := httptest.NewServer(s)
	defer srv.Close()
	whole := finished(t, srv.URL, newest, adaptive)
	for kept := range 1 << 9 {
		k := whole.copy()
		var gone []int
		for i := range 9 {
			if kept&(1<<i) == 0 {
				gone = append(gone, i)
			}
		}
		k.without(gone...)
		want := 400
		if block := kept >> bits.TrailingZeros(uint(kept)|1<<9); block&(block+1) == 0 {
			want = 200 // the ones stand together
		}
		if got := k.send(); got != want {
			t.Errorf("thinking %09b kept: %d, want %d\n%s", kept, got, want, k.last.body)
		}
	}
}

// TestEveryBlockIsBound changes one block at a time: whatever has thinking behind it cannot change.
func TestEveryBlockIsBound(t *testing.T) {
	_, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2}})
	whole := finished(t, url, newest, adaptive)
	at := whole.thoughts()
	last := at[len(at)-1]
	for i, m := range whole.msgs {
		for j, b := range m.Content {
			if slices.Contains(at, [2]int{i, j}) {
				continue
			}
			k := whole.copy()
			changed := strings.NewReplacer(`"text":"`, `"text":"x`, `"command":"`, `"command":"x`).Replace(b)
			if changed == b {
				t.Fatalf("nothing to change in %s", b)
			}
			k.msgs[i].Content[j] = changed
			want := 400
			if i > last[0] || i == last[0] && j > last[1] {
				want = 200
			}
			if got := k.send(); got != want {
				t.Errorf("message %d, block %d changed: %d, want %d\n%s", i, j, got, want, k.last.body)
			}
		}
	}
}
