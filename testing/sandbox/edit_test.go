package sandbox_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/sse"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// worked returns a conversation with n rounds in one turn, each with a result of size tokens, whose last
// results the model has still to answer.
func worked(t *testing.T, opts sandbox.Options, n, size int, list string) (*sandbox.Server, *talk) {
	s, url := start(t, opts)
	k := &talk{t: t, url: url, model: newest, fields: adaptive + bash, marks: true, header: []string{"x-session-id", t.Name(), "anthropic-beta", editingBeta}}
	k.add(say("work"))
	for range n {
		k.reply(k.ask(), strings.Repeat("abc", size))
	}
	k.fields = edits(list) + bash
	return s, k
}

// tools returns an edit of tool uses.
func toolEdit(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"type":"clear_tool_uses_20250919"` + members + `}`
}

func TestClearToolUses(t *testing.T) {
	const now = `"trigger":{"type":"tool_uses","value":1}`
	// Of ten results of 100 tokens each, without what stands in their place.
	const each = 100 - 11
	tests := []struct {
		name, edit string
		cleared    int
		freed      int
	}{
		{"editing/DefaultTriggerNotPassed", toolEdit(""), 0, 0},
		{"editing/TriggerByTokens", toolEdit(`"trigger":{"type":"input_tokens","value":1000}`), 7, 7 * each},
		{"editing/TriggerByTokensNotPassed", toolEdit(`"trigger":{"type":"input_tokens","value":10000}`), 0, 0},
		{"editing/TriggerByUses", toolEdit(`"trigger":{"type":"tool_uses","value":9}`), 7, 7 * each},
		{"editing/TriggerByUsesNotPassed", toolEdit(`"trigger":{"type":"tool_uses","value":10}`), 0, 0},
		{"editing/DefaultKeep", toolEdit(now), 7, 7 * each},
		{"editing/Keep", toolEdit(now + `,"keep":{"type":"tool_uses","value":4}`), 6, 6 * each},
		{"editing/KeepNone", toolEdit(now + `,"keep":{"type":"tool_uses","value":0}`), 10, 10 * each},
		{"editing/KeepMoreThanThereAre", toolEdit(now + `,"keep":{"type":"tool_uses","value":40}`), 0, 0},
		{"editing/AtLeast", toolEdit(now + `,"clear_at_least":{"type":"input_tokens","value":623}`), 7, 7 * each},
		{"editing/AtLeastNotMet", toolEdit(now + `,"clear_at_least":{"type":"input_tokens","value":624}`), 0, 0},
		{"editing/Excluded", toolEdit(now + `,"exclude_tools":["Bash"]`), 0, 0},
		{"editing/OtherExcluded", toolEdit(now + `,"exclude_tools":["Read"]`), 7, 7 * each},
		{"editing/Inputs", toolEdit(now + `,"clear_tool_inputs":true`), 7, 7 * (each + 3)},
		{"editing/InputsByName", toolEdit(now + `,"clear_tool_inputs":["Bash"]`), 7, 7 * (each + 3)},
		{"editing/InputsOfOthers", toolEdit(now + `,"clear_tool_inputs":["Read"]`), 7, 7 * each},
	}
	rules := &sandbox.Rules{Calls: 100, Input: func(string, int) json.RawMessage { return json.RawMessage(`{"a":"bcd"}`) }}
	s, base := worked(t, sandbox.Options{Model: rules}, 10, 100, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := base.copy()
			k.fields = edits(keepAll+","+tt.edit) + bash
			k.ask()
			want := []appliedEdit{}
			if tt.cleared > 0 {
				want = append(want, appliedEdit{Type: "clear_tool_uses_20250919", Uses: tt.cleared, Freed: tt.freed})
			}
			if d := cmp.Diff(want, k.appliedEdits()); d != "" {
				t.Errorf("applied (-want +got):\n%s", d)
			}
			if got := s.Log.Last(); got.Cleared != tt.cleared {
				t.Errorf("the log has %d results cleared, want %d", got.Cleared, tt.cleared)
			}
		})
	}
}

type appliedEdit struct {
	Type  string
	Uses  int `json:"cleared_tool_uses"`
	Turns int `json:"cleared_thinking_turns"`
	Freed int `json:"cleared_input_tokens"`
}

// appliedEdits returns what the last answer says about its edits.
func (k *talk) appliedEdits() []appliedEdit {
	var m struct {
		Context struct {
			Applied []appliedEdit `json:"applied_edits"`
		} `json:"context_management"`
	}
	if err := json.Unmarshal([]byte(k.last.body), &m); err != nil {
		k.t.Fatal(err)
	}
	return m.Context.Applied
}

// What was cleared is not in what the model reads, and not in the cache; a keep that grows with every
// use keeps the prompt as it is from its beginning, so that it is read from the cache, and no signature
// minds any of it: those are checked on the request as it was sent.
func TestAFrozenSetStaysCachedAndSigned(t *testing.T) {
	frozen := func(keep int) string {
		return keepAll + "," + toolEdit(fmt.Sprintf(`"trigger":{"type":"tool_uses","value":1},"keep":{"type":"tool_uses","value":%d}`, keep))
	}
	s, k := worked(t, sandbox.Options{Model: &sandbox.Rules{Calls: 100}}, 10, 1000, frozen(2))
	calls := k.ask()
	if got := s.Log.Last(); got.Cleared != 8 || got.Usage.CacheRead >= got.Usage.CacheWrite {
		t.Fatalf("the request that clears: %d cleared, %+v", got.Cleared, got.Usage)
	}
	for n := 3; n < 30; n++ {
		before := s.Log.Last().Usage
		k.reply(calls, strings.Repeat("abc", 1000))
		k.fields = edits(frozen(n)) + bash
		calls = k.ask()
		got := s.Log.Last()
		if held := before.CacheRead + before.CacheWrite; got.Cleared != 8 || got.Usage.CacheRead != held {
			t.Fatalf("with a keep of %d: %d cleared, %d read of %d that the cache holds", n, got.Cleared, got.Usage.CacheRead, held)
		}
	}
	k.reply(calls, "ok")
	k.ask() // the same keep with one use more: the set slides
	if got := s.Log.Last(); got.Cleared != 9 || got.Usage.CacheWrite < 20_000 {
		t.Errorf("a set that slides: %d cleared, %+v", got.Cleared, got.Usage)
	}
}

// What the model cannot see it cannot repeat.
func TestTheModelReadsTheEditedPrompt(t *testing.T) {
	s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 1}})
	k := &talk{t: t, url: url, model: newest, fields: adaptive + bash, header: []string{"x-session-id", t.Name(), "anthropic-beta", editingBeta}}
	k.add(say("work"))
	k.reply(k.ask(), "the color is violet")
	k.ask()
	k.add(say("What is color?"))
	for edit, want := range map[string]string{"": "color is violet", toolEdit(`"trigger":{"type":"input_tokens","value":1},"keep":{"type":"tool_uses","value":0}`): "I do not know what color is"} {
		k.fields = edits(edit) + bash
		if k.send(); !strings.Contains(k.last.body, want) {
			t.Errorf("with the edits [%s] the answer is %s, want %q", edit, k.last.body, want)
		}
	}
	if refused := s.Log.Refused(); len(refused) > 0 {
		t.Errorf("refused: %s", refused[0].Error)
	}
}

func TestClearThinking(t *testing.T) {
	tests := []struct {
		name, model, edit string
		turns             int
	}{
		{"editing/KeepsAllUnasked", newest, `{"type":"clear_thinking_20251015"}`, 0},
		{"editing/KeepsTheLastUnasked", old, `{"type":"clear_thinking_20251015"}`, 3},
		{"editing/KeepAll", newest, keepAll, 0},
		{"editing/KeepTwo", newest, `{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}}`, 2},
		{"editing/KeepOne", newest, `{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":1}}`, 3},
		{"editing/KeepMore", newest, `{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":9}}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, url := start(t, sandbox.Options{Model: &sandbox.Rules{Calls: 2, Thought: 300}})
			thinking := adaptive
			if tt.model == old {
				thinking = `"thinking":{"type":"enabled","budget_tokens":1024},`
			}
			k := opened(t, url, tt.model, thinking)
			k.turn("finish")
			k.add(say("and now"))
			k.fields = thinking + `"context_management":{"edits":[` + tt.edit + `]},` + bash + system
			k.header = append(k.header, "anthropic-beta", editingBeta)
			k.ask()
			got := 0
			for _, a := range k.appliedEdits() {
				got = a.Turns
			}
			if got != tt.turns {
				t.Errorf("thinking of %d turns cleared, want %d of 4", got, tt.turns)
			}
			if refused := s.Log.Refused(); len(refused) > 0 {
				t.Errorf("refused: %s", refused[0].Error)
			}
		})
	}
}

func TestCountsOfEditedPrompts(t *testing.T) {
	_, k := worked(t, sandbox.Options{Model: &sandbox.Rules{Calls: 100}}, 10, 100, "")
	count := func(list string) (n, original int) {
		k.fields = edits(list) + bash
		body := strings.Replace(k.body(), `"max_tokens":4096,`, "", 1)
		got := do(t, "POST", k.url+"/v1/messages/count_tokens", body, k.header...)
		var m struct {
			N       int `json:"input_tokens"`
			Context struct {
				Original int `json:"original_input_tokens"`
			} `json:"context_management"`
		}
		if err := json.Unmarshal([]byte(got.body), &m); err != nil || got.status != 200 {
			t.Fatalf("%d %s: %v", got.status, got.body, err)
		}
		return m.N, m.Context.Original
	}
	whole, same := count("")
	less, original := count(toolEdit(`"trigger":{"type":"tool_uses","value":1}`))
	if same != whole || original != whole || less != whole-7*(100-11) {
		t.Errorf("counts: %d of %d unedited, %d of %d edited", whole, same, less, original)
	}
}

// A stream says in message_delta what was cleared.
func TestAppliedEditsInAStream(t *testing.T) {
	_, k := worked(t, sandbox.Options{Model: &sandbox.Rules{Calls: 100}}, 5, 100, toolEdit(`"trigger":{"type":"tool_uses","value":1},"keep":{"type":"tool_uses","value":1}`))
	k.fields += `"stream":true,`
	k.send()
	var deltas []string
	r := sse.Reader{Handle: func(name, data []byte) {
		if string(name) == "message_delta" {
			deltas = append(deltas, string(data))
		}
	}}
	r.Write([]byte(k.last.body))
	const want = `"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":4,"cleared_input_tokens":356}]}`
	if len(deltas) != 1 || !strings.Contains(deltas[0], want) {
		t.Errorf("message_delta %q, want %s", deltas, want)
	}
}

// A deferred tool is known to the model only where a result in its prompt refers to it.
func TestDeferredToolsComeWithTheirReference(t *testing.T) {
	var seen []string
	model := sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		seen = p.Tools
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "ok"}}}
	})
	_, url := start(t, sandbox.Options{Model: model})
	for _, tt := range []struct {
		name, messages string
		list           string
		want           []string
	}{
		{"WithoutReference", user, "", []string{"Bash"}},
		{"WithReference", user + `,` + call + `,` + refers("Later"), "", []string{"Bash", "Later"}},
		{"ReferenceCleared", user + `,` + call + `,` + refers("Later"), toolEdit(`"trigger":{"type":"input_tokens","value":1},"keep":{"type":"tool_uses","value":0}`), []string{"Bash"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rule{fields: edits(tt.list) + deferred, messages: tt.messages}
			if got := do(t, "POST", url+"/v1/messages", r.body(), "anthropic-beta", editingBeta); got.status != 200 {
				t.Fatal(got.body)
			}
			if !slices.Equal(seen, tt.want) {
				t.Errorf("the model knows %q, want %q", seen, tt.want)
			}
		})
	}
}
