package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const marker = `,"cache_control":{"type":"ephemeral"}`

func TestMark(t *testing.T) {
	const call, result = `{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r"}]}`
	end := func(s string) string { return strings.Replace(s, `"content":"r"}`, `"content":"r"`+marker+`}`, 1) }
	text := func(s string) string { return `[{"type":"text","text":` + s + marker + `}]` }
	many := strings.Repeat(`{"type":"text","text":"b"},`, 21)
	for _, c := range []struct{ name, body, want string }{
		{"Nothing", `{"system":"s","messages":[{"role":"user","content":"a"},` + call + `,` + result + `]}`,
			`{"system":` + text(`"s"`) + `,"messages":[{"role":"user","content":` + text(`"a"`) + `},` + call + `,` + end(result) + `]}`},
		{"OnlyTheSystemPrompt", `{"system":[{"type":"text","text":"s"` + marker + `}],"messages":[{"role":"user","content":"a"},` + call + `,` + result + `]}`,
			`{"system":[{"type":"text","text":"s"` + marker + `}],"messages":[{"role":"user","content":` + text(`"a"`) + `},` + call + `,` + end(result) + `]}`},
		{"ToolsWithoutASystemPrompt", `{"tools":[{"name":"n"}],"messages":[{"role":"user","content":"a"}]}`,
			`{"tools":[{"name":"n"` + marker + `}],"messages":[{"role":"user","content":` + text(`"a"`) + `}]}`},
		{"FarFromTheNextMarker", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[` + many + `{"type":"text","text":"e"` + marker + `}]}]}`,
			`{"messages":[{"role":"user","content":` + text(`"a"`) + `},{"role":"assistant","content":"b"},{"role":"user","content":[` + many + `{"type":"text","text":"e"` + marker + `}]}]}`},
		{"OneShot", `{"system":"s","messages":[{"role":"user","content":"a"}]}`, ""},
		{"ForcedTool", `{"tools":[{"name":"n"}],"tool_choice":{"type":"tool","name":"n"},"messages":[{"role":"user","content":"a"}]}`, ""},
		{"Automatic", `{"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":"a"},` + call + `,` + result + `]}`, ""},
		{"ItsOwn", `{"messages":[{"role":"user","content":"a"},` + call + `,` + end(result) + `]}`, ""},
		{"NoneFree", `{"system":[` + strings.Repeat(`{"type":"text","text":"s"`+marker+`},`, 3) + `{"type":"text","text":"s"` + marker + `}],"messages":[{"role":"user","content":"a"},` + call + `,` + result + `]}`, ""},
		{"NothingThatCanCarryOne", `{"messages":[{"role":"user","content":" "},{"role":"assistant","content":"b"},{"role":"user","content":[]}]}`, ""},
		{"NoJSON", `{"messages":[`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, what := Dialect{}.Mark([]byte(c.body))
			if c.want == "" {
				c.want = c.body
			}
			if string(got) != c.want {
				t.Errorf("%+v\n%s\nwant\n%s", what, got, c.want)
			}
		})
	}
}

// Only markers are added, never more than four in all, the client's own stay, none of an hour comes after one
// of five minutes, and a marked request needs no more.
func TestMarkOnlyAddsMarkers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		body := drawRequest(rt)
		src := bytes.Clone(body)
		got, what := Dialect{}.Mark(body)
		if !bytes.Equal(body, src) {
			rt.Fatal("the client's bytes were changed")
		}
		if what.Added == 0 && &got[0] != &body[0] {
			rt.Fatalf("another body without a marker: %s", got)
		}
		was, is := decoded(rt, body), decoded(rt, got)
		before, after := lives(was), lives(is)
		if len(after) != len(before)+what.Added || len(after) > max(4, len(before)) || !within(before, after) {
			rt.Fatalf("markers %v of %v, %d are new\n%s", after, before, what.Added, got)
		}
		if late(after) && !late(before) {
			rt.Fatalf("an hour behind five minutes: %v", after)
		}
		strip(was)
		strip(is)
		if diff := cmp.Diff(was, is); diff != "" {
			rt.Fatalf("more than markers was changed (-client +sent):\n%s", diff)
		}
		if again, what := (Dialect{}).Mark(got); what.Added > 0 {
			rt.Fatalf("marked twice:\n%s\n%s", got, again)
		}
	})
}

func FuzzMark(f *testing.F) {
	f.Add([]byte(`{"system":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[]},{"role":"user","content":[{"type":"text","text":"b","cache_control":null}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, what := Dialect{}.Mark(body)
		if what.Added == 0 && !bytes.Equal(got, body) || what.Added > 0 && !json.Valid(got) {
			t.Errorf("%d added: %s", what.Added, got)
		}
	})
}

// drawRequest draws a request of a client that marks what it likes.
func drawRequest(t *rapid.T) []byte {
	left := rapid.IntRange(0, 4).Draw(t, "markers")
	life := rapid.SampledFrom([]string{marker, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`}).Draw(t, "life")
	mark := func() string {
		if left == 0 || rapid.IntRange(0, 3).Draw(t, "marked") > 0 {
			return rapid.SampledFrom([]string{"", "", "", `,"cache_control":null`}).Draw(t, "null")
		}
		left--
		return life
	}
	block := func() string {
		return rapid.SampledFrom([]func() string{
			func() string { return `{"type":"text","text":"w\u00e9 \"q\""` + mark() + ` }` },
			func() string { return `{"type":"text","text":""}` },
			func() string { return `{"type":"thinking","thinking":"t","signature":"s"}` },
			func() string {
				return `{"type":"tool_use","id":"x","name":"n","input":{"cache_control":1}` + mark() + `}`
			},
			func() string {
				return `{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"r"` + mark() + `}]}`
			},
			func() string { return `{"type":"new_block","x":1}` },
		}).Draw(t, "block")()
	}
	list := func(most int) string {
		var out []string
		for range rapid.IntRange(0, most).Draw(t, "blocks") {
			out = append(out, block())
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	system := rapid.SampledFrom([]func() string{
		func() string { return "" }, func() string { return `"system":"be kind",` },
		func() string {
			return `"system":[{"type":"text","text":"be"` + mark() + `},{"type":"text","text":"kind"` + mark() + `}],`
		},
	}).Draw(t, "system")()
	tools := rapid.SampledFrom([]string{"", `"tools":[],`, `"tools":[{"name":"n","input_schema":{}}],`}).Draw(t, "tools")
	var ms []string
	for i := range rapid.IntRange(1, 6).Draw(t, "messages") {
		role, content := "user", `"words"`
		if i%2 == 1 {
			role = "assistant"
		}
		if rapid.Bool().Draw(t, "list") {
			content = list(25)
		}
		ms = append(ms, fmt.Sprintf(`{"role":%q,"content":%s}`, role, content))
	}
	return []byte(`{"model":"m",` + system + tools + `"messages":[` + strings.Join(ms, ",") + `]}`)
}

func decoded(t *rapid.T, body []byte) (v any) {
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}

// lives returns the lifetimes of all markers, in the order of the prompt.
func lives(v any) (out []string) {
	m := v.(map[string]any)
	for _, part := range []any{m["tools"], m["system"], m["messages"]} {
		out = append(out, livesIn(part)...)
	}
	return out
}

func livesIn(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, livesIn(e)...)
		}
	case map[string]any:
		out = livesIn(v["content"])
		if c, ok := v["cache_control"].(map[string]any); ok {
			ttl, _ := c["ttl"].(string)
			out = append(out, ttl)
		}
	}
	return out
}

// within reports whether all of a stands in b, in that order.
func within(a, b []string) bool {
	for _, s := range b {
		if len(a) > 0 && a[0] == s {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// late reports whether a marker of an hour comes after one of five minutes.
func late(lives []string) bool {
	short := false
	for _, l := range lives {
		if l == "1h" && short {
			return true
		}
		short = short || l == ""
	}
	return false
}

// strip takes all markers from a request, and writes a lone string as what it stands for: a list of one text.
func strip(v any) {
	m := v.(map[string]any)
	listed(m, "system")
	for _, e := range m["messages"].([]any) {
		listed(e.(map[string]any), "content")
	}
	unmark(v)
}

func listed(m map[string]any, name string) {
	if s, ok := m[name].(string); ok {
		m[name] = []any{map[string]any{"type": "text", "text": s}}
	}
}

func unmark(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			unmark(e)
		}
	case map[string]any:
		if _, number := v["cache_control"].(float64); !number {
			delete(v, "cache_control")
		}
		for _, e := range v {
			unmark(e)
		}
	}
}
