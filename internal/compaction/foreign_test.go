package compaction_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/compaction"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// object is a JSON object.
type object = map[string]any

// history returns a conversation of so many rounds, whose answers and results are made by round.
func history(rounds int, round func(i int) (answer, results []any)) []object {
	ms := []object{{"role": "user", "content": "Refactor the modules; the port is 8443."}}
	for i := range rounds {
		answer, results := round(i)
		ms = append(ms, object{"role": "assistant", "content": answer}, object{"role": "user", "content": results})
	}
	return append(ms, object{"role": "assistant", "content": "Done."}, object{"role": "user", "content": "And now?"})
}

func call(id string, input any) object {
	return object{"type": "tool_use", "id": id, "name": "Read", "input": input}
}

func output(id string, i int) object {
	return object{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat(fmt.Sprintf("line of the file number %d\n", i), 40)}
}

// encoded returns a value as JSON. Halves of characters are written HALF there.
func encoded(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), "HALF", `\ud83d`)
}

// asBody returns messages as a request, and asSession as a session of Claude Code.
func asBody(t *testing.T, model string, ms []object) string {
	return encoded(t, object{"model": model, "max_tokens": 100, "messages": ms, "tools": []object{{"name": "Read", "input_schema": object{"type": "object"}}}})
}

func asSession(t *testing.T, model string, ms []object) string {
	var out strings.Builder
	for i, m := range ms {
		line := object{
			"type": m["role"], "uuid": fmt.Sprint("u", i), "parentUuid": nil, "sessionId": "s", "isSidechain": false,
			"timestamp": time.Date(2026, 6, 1, 10, 0, i, 0, time.UTC).Format(time.RFC3339),
		}
		if i > 0 {
			line["parentUuid"] = fmt.Sprint("u", i-1)
		}
		if m["role"] == "assistant" {
			m["id"], m["type"], m["model"] = fmt.Sprint("msg_", i), "message", model
		}
		line["message"] = m
		out.WriteString(encoded(t, line) + "\n")
	}
	return out.String()
}

// compacted returns what a source is compacted to, at a share of its size, for a model; empty: that of the source.
func compacted(t *testing.T, src, model string, percent int) (string, error) {
	t.Helper()
	doc, err := wire.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	pre, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	o := compaction.Options{Name: "x", As: compaction.Same, Preset: pre, Now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	if model == "" {
		model = doc.Conversation.Model
	}
	o.Model, _ = catalog.Lookup(model)
	o.Target = func(all int) int { return all * percent / 100 }
	r, err := compaction.File(doc, o)
	if err != nil {
		return "", err
	}
	out, err := r.Bytes()
	return string(out), err
}

// What other providers' models have written is brought into the form that Claude takes, in bodies and in sessions.
func TestWhatOtherModelsWroteForClaude(t *testing.T) {
	signed := strings.Repeat("c2lnbmVk", 30)
	thinking := func(sign any) object { return object{"type": "thinking", "thinking": "thought", "signature": sign} }
	unsigned := regexp.MustCompile(`"thinking":"thought"`)
	for name, test := range map[string]struct {
		round func(i int) (answer, results []any)
		model string         // that answered
		never *regexp.Regexp // in the result
	}{
		"ids of Kimi": {func(i int) ([]any, []any) {
			id := fmt.Sprint("functions.Read:", i)
			return []any{call(id, object{"file_path": "a.go"})}, []any{output(id, i)}
		}, "claude-sonnet-4-5", regexp.MustCompile(`functions\.Read:`)},
		"one id in each turn": {func(i int) ([]any, []any) {
			return []any{call("call_0", object{}), call("call.1", object{})}, []any{output("call_0", i), output("call.1", i)}
		}, "claude-sonnet-4-5", regexp.MustCompile(`"call\.1"`)},
		"empty ids": {func(i int) ([]any, []any) {
			return []any{call("", object{})}, []any{output("", i)}
		}, "claude-sonnet-4-5", regexp.MustCompile(`"(id|tool_use_id)":""`)},
		"ids of other letters": {func(i int) ([]any, []any) {
			id := fmt.Sprint("aufruf-ä ", i)
			return []any{call(id, object{})}, []any{output(id, i)}
		}, "claude-sonnet-4-5", regexp.MustCompile(`aufruf-ä`)},
		"arguments in a string": {func(i int) ([]any, []any) {
			id := fmt.Sprint("toolu_", i)
			return []any{call(id, `{"file_path":"a.go"}`)}, []any{output(id, i)}
		}, "claude-sonnet-4-5", regexp.MustCompile(`"input":"`)},
		"arguments that are no JSON, or a list": {func(i int) ([]any, []any) {
			id := fmt.Sprint("toolu_", i)
			return []any{call(id, "a.go"), call(id+"b", []any{"a.go"})}, []any{output(id, i), output(id+"b", i)}
		}, "claude-sonnet-4-5", regexp.MustCompile(`"input":["\[]`)},
		"thinking without a signature": {func(i int) ([]any, []any) {
			id := fmt.Sprint("toolu_", i)
			return []any{thinking(""), call(id, object{})}, []any{output(id, i)}
		}, "claude-sonnet-4-5", unsigned},
		"thinking of a message that has nothing else": {func(i int) ([]any, []any) {
			id := fmt.Sprint("toolu_", i)
			if i%2 == 1 {
				return []any{thinking("")}, []any{object{"type": "text", "text": "Go on."}}
			}
			return []any{call(id, object{})}, []any{output(id, i)}
		}, "claude-sonnet-4-5", unsigned},
		"a signature that is null": {func(i int) ([]any, []any) {
			id := fmt.Sprint("toolu_", i)
			return []any{thinking(nil), call(id, object{})}, []any{output(id, i)}
		}, "claude-sonnet-4-5", unsigned},
		"halves of characters": {func(i int) ([]any, []any) {
			id := fmt.Sprint("toolu_", i)
			r := output(id, i)
			r["content"] = r["content"].(string) + "HALF"
			return []any{object{"type": "text", "text": "HALF?"}, call(id, object{"file_path": "HALF", "HALF": 1})}, []any{r}
		}, "claude-sonnet-4-5", regexp.MustCompile(`ud83d`)},
		"thinking of another provider's model": {func(i int) ([]any, []any) {
			id := fmt.Sprint("toolu_", i)
			return []any{thinking(signed), call(id, object{})}, []any{output(id, i)}
		}, "glm-4.6", regexp.MustCompile(signed)},
	} {
		for _, percent := range []int{95, 60, 20} {
			for form, src := range map[string]string{
				"body": asBody(t, "claude-sonnet-4-5", history(16, test.round)), "session": asSession(t, test.model, history(16, test.round)),
			} {
				if form == "body" && test.model != "claude-sonnet-4-5" {
					continue // a body does not say who has answered
				}
				out, err := compacted(t, src, "claude-sonnet-4-5", percent)
				if err != nil {
					t.Errorf("%s, %s to %d%%: %v", name, form, percent, err)
					continue
				}
				if got := test.never.FindString(out); got != "" {
					t.Errorf("%s, %s to %d%%: the result has %q", name, form, percent, got)
				}
			}
		}
	}
}

// Another provider's own models take what they have written.
func TestWhatOtherModelsWroteForThemselves(t *testing.T) {
	src := asBody(t, "kimi-k2", history(16, func(i int) ([]any, []any) {
		id := fmt.Sprint("functions.Read:", i)
		return []any{object{"type": "thinking", "thinking": "thought", "signature": ""}, call(id, object{})}, []any{output(id, i)}
	}))
	out, err := compacted(t, src, "", 60)
	if err != nil || !strings.Contains(out, "functions.Read:15") || !strings.Contains(out, `"thought"`) {
		t.Errorf("%v, %s", err, out)
	}
}
